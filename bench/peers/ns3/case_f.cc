// Case F, the least that ns-3 can do: point-to-point devices without anything above them. Every host
// sends 1046 bytes every 165 ns for 1 ms to the host 65 further on; switches forward in the receive
// callback of their devices, by a table. A packet knows its destination by a header of its own.

#include "fabric.h"

#include <array>
#include <memory>

using namespace ns3;

namespace
{

constexpr uint32_t kFrame = 1046; // as long as floodway's: 1000 of payload, 46 of headers
constexpr uint32_t kShift = 65;
const Time kPeriod = NanoSeconds(165);
const Time kEnd = MilliSeconds(1);
constexpr uint16_t kProtocol = 0x0800; // the device knows no others; nobody reads it

// Where a packet goes: four bytes of its 1046, two more are those of PPP.
class Destination : public Header
{
  public:
    uint32_t host = 0;

    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("peers::Destination").SetParent<Header>().AddConstructor<Destination>();
        return id;
    }

    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return 4;
    }

    void Serialize(Buffer::Iterator start) const override
    {
        start.WriteU32(host);
    }

    uint32_t Deserialize(Buffer::Iterator start) override
    {
        host = start.ReadU32();
        return 4;
    }

    void Print(std::ostream& out) const override
    {
        out << host;
    }
};

// A switch: by destination, the device that leads there.
struct Switch
{
    std::array<Fabric::Device, kHosts> table;

    bool Receive(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t protocol, const Address&)
    {
        Destination destination;
        packet->PeekHeader(destination);
        const auto& device = table[destination.host];
        // The channel made a copy for this end of the link, so nobody else has this packet.
        return device->Send(ConstCast<Packet>(packet), device->GetBroadcast(), protocol);
    }
};

// The sending side of a host.
struct Source
{
    Fabric::Device nic;
    Destination destination;

    void Send()
    {
        auto packet = Create<Packet>(kFrame - 2 - destination.GetSerializedSize());
        packet->AddHeader(destination);
        nic->Send(packet, nic->GetBroadcast(), kProtocol);
        Simulator::Schedule(kPeriod, &Source::Send, this);
    }
};

// The receiving side of all hosts.
struct Sink
{
    uint64_t packets = 0;

    bool Receive(Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&)
    {
        ++packets;
        return true;
    }
};

} // namespace

int main()
{
    Time::SetResolution(Time::PS); // times of packets on links are not rounded to nanoseconds

    Fabric fabric(false);

    std::vector<std::unique_ptr<Switch>> switches;
    auto forward = [&](const Ptr<Node>& node, auto&& towards) {
        switches.push_back(std::make_unique<Switch>());
        for (uint32_t host = 0; host < kHosts; ++host)
        {
            switches.back()->table[host] = towards(host);
        }
        for (uint32_t number = 0; number < node->GetNDevices(); ++number)
        {
            node->GetDevice(number)->SetReceiveCallback(
                MakeCallback(&Switch::Receive, switches.back().get()));
        }
    };
    for (uint32_t leaf = 0; leaf < kLeaves; ++leaf)
    {
        forward(fabric.leaves.Get(leaf), [&](uint32_t host) { return fabric.FromLeaf(leaf, host); });
    }
    for (uint32_t spine = 0; spine < kSpines; ++spine)
    {
        forward(fabric.spines.Get(spine), [&](uint32_t host) { return fabric.FromSpine(spine, host); });
    }

    Sink sink;
    std::vector<Source> sources(kHosts);
    for (uint32_t host = 0; host < kHosts; ++host)
    {
        fabric.nic[host]->SetReceiveCallback(MakeCallback(&Sink::Receive, &sink));
        sources[host].nic = fabric.nic[host];
        sources[host].destination.host = (host + kShift) % kHosts;
        Simulator::Schedule(Time(0), &Source::Send, &sources[host]);
    }

    double setup = CpuSeconds();
    double cpu = RunUntil(kEnd);
    PrintResult(fabric.Hops(),
                cpu,
                setup,
                Member("delivered_packets", sink.packets) + Member("drops", fabric.Drops()));
    Simulator::Destroy();
    return 0;
}
