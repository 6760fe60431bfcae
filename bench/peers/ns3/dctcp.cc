// TCP with DCTCP over the IP stack, and switches that mark above one threshold: the flows of a file,
// from 2.0 s on there and from 0 on here, for 1 ms.
//
// Usage: dctcp FLOWS, a file of the HPCC simulator: their number, then on each line source,
// destination, priority, port, bytes and start in seconds.

#include "stack.h"

#include "ns3/applications-module.h"
#include "ns3/traffic-control-module.h"

#include <fstream>
#include <iostream>

using namespace ns3;

namespace
{

constexpr uint32_t kSegment = 1000;
constexpr uint32_t kBuffer = 131072;       // of a socket, each way: the default of ns-3
constexpr double kThreshold = 100000;     // bytes above which all is marked
constexpr uint32_t kMemory = 32000000;     // bytes of a queue: nothing is dropped
constexpr uint16_t kFirstPort = 1000;      // flow n goes to port 1000 + n
const Time kOrigin = Seconds(2);
const Time kEnd = MilliSeconds(1);

struct Flow
{
    uint32_t source;
    uint32_t destination;
    uint64_t bytes;
    Time start;
};

std::vector<Flow> ReadFlows(const char* path)
{
    std::ifstream file(path);
    std::size_t count = 0;
    file >> count;
    std::vector<Flow> flows;
    uint32_t source, destination, priority, port;
    uint64_t bytes;
    double start;
    while (flows.size() < count &&
           file >> source >> destination >> priority >> port >> bytes >> start)
    {
        flows.push_back({source, destination, bytes, Seconds(start) - kOrigin});
    }
    if (!file || flows.empty())
    {
        std::cerr << path << " is no list of flows\n";
        std::exit(2);
    }
    return flows;
}

void SetDefaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpDctcp::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(kBuffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(kBuffer));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    // RED that looks at the queue as it is, and marks nothing up to the threshold and all above it.
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1));
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(kThreshold));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(kThreshold + 1));
    Config::SetDefault("ns3::RedQueueDisc::Gentle", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize",
                       QueueSizeValue(QueueSize(QueueSizeUnit::BYTES, kMemory)));
}

} // namespace

int main(int count, char** words)
{
    if (count != 2)
    {
        std::cerr << "usage: dctcp FLOWS\n";
        return 2;
    }
    Time::SetResolution(Time::PS); // times of packets on links are not rounded to nanoseconds
    auto flows = ReadFlows(words[1]);
    SetDefaults();

    Fabric fabric(true);
    fabric.SetSwitchQueues(1); // packets wait in the queue disc, where they are marked
    InstallStack(fabric);
    TrafficControlHelper red;
    red.SetRootQueueDisc("ns3::RedQueueDisc");
    std::vector<Ptr<QueueDisc>> discs;
    for (const auto& device : fabric.SwitchDevices())
    {
        discs.push_back(red.Install(device).Get(0));
    }

    std::vector<Ptr<PacketSink>> sinks;
    for (std::size_t number = 0; number < flows.size(); ++number)
    {
        const auto& flow = flows[number];
        uint16_t port = static_cast<uint16_t>(kFirstPort + number);

        PacketSinkHelper receiver("ns3::TcpSocketFactory",
                                  InetSocketAddress(Ipv4Address::GetAny(), port));
        auto sink = receiver.Install(fabric.hosts.Get(flow.destination)).Get(0);
        sink->SetStartTime(Time(0));
        sinks.push_back(DynamicCast<PacketSink>(sink));

        BulkSendHelper sender("ns3::TcpSocketFactory",
                              InetSocketAddress(AddressOf(flow.destination), port));
        sender.SetAttribute("MaxBytes", UintegerValue(flow.bytes));
        sender.SetAttribute("SendSize", UintegerValue(kSegment));
        sender.Install(fabric.hosts.Get(flow.source)).Get(0)->SetStartTime(flow.start);
    }

    double setup = CpuSeconds();
    double cpu = RunUntil(kEnd);

    uint64_t delivered = 0, done = 0, marks = 0, drops = fabric.Drops();
    for (std::size_t number = 0; number < flows.size(); ++number)
    {
        uint64_t arrived = sinks[number]->GetTotalRx();
        delivered += arrived;
        done += arrived >= flows[number].bytes;
    }
    for (const auto& disc : discs)
    {
        marks += disc->GetStats().nTotalMarkedPackets;
        drops += disc->GetStats().nTotalDroppedPackets;
    }
    PrintResult(fabric.Hops(),
                cpu,
                setup,
                Member("flows", flows.size()) + Member("flows_done", done) +
                    Member("delivered_bytes", delivered) + Member("marked_packets", marks) +
                    Member("drops", drops));
    Simulator::Destroy();
    return 0;
}
