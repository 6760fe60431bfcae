// The packets of case F once more, sent and received by UDP sockets and forwarded by the IP stack.

#include "stack.h"

using namespace ns3;

namespace
{

// 20 bytes of IP, 8 of UDP and 2 of PPP make 1046 of it.
constexpr uint32_t kPayload = 1016;
constexpr uint32_t kShift = 65;
constexpr uint16_t kPort = 9;
const Time kPeriod = NanoSeconds(165);
const Time kEnd = MilliSeconds(1);

// The sending side of a host.
struct Source
{
    Ptr<Socket> socket;

    void Send()
    {
        socket->Send(Create<Packet>(kPayload));
        Simulator::Schedule(kPeriod, &Source::Send, this);
    }
};

// The receiving side of all hosts.
struct Sink
{
    uint64_t packets = 0;

    void Receive(Ptr<Socket> socket)
    {
        while (socket->Recv())
        {
            ++packets;
        }
    }
};

} // namespace

int main()
{
    Time::SetResolution(Time::PS); // times of packets on links are not rounded to nanoseconds

    Fabric fabric(false);
    InstallStack(fabric);

    Sink sink;
    std::vector<Source> sources(kHosts);
    for (uint32_t host = 0; host < kHosts; ++host)
    {
        auto receiver = Socket::CreateSocket(fabric.hosts.Get(host), UdpSocketFactory::GetTypeId());
        receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), kPort));
        receiver->SetRecvCallback(MakeCallback(&Sink::Receive, &sink));

        auto sender = Socket::CreateSocket(fabric.hosts.Get(host), UdpSocketFactory::GetTypeId());
        sender->Bind();
        sender->Connect(InetSocketAddress(AddressOf((host + kShift) % kHosts), kPort));
        sources[host].socket = sender;
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
