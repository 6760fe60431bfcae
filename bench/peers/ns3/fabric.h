// The network of all cases, and what they measure: 8 leaves x 8 spines x 16 hosts, hosts at 100 Gb/s,
// uplinks at 200 Gb/s, every link 200 ns long. Host h hangs on leaf h / 16, and all that goes to host
// d passes spine d mod 8.

#ifndef FLOODWAY_PEERS_FABRIC_H
#define FLOODWAY_PEERS_FABRIC_H

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

constexpr uint32_t kLeaves = 8;
constexpr uint32_t kSpines = 8;
constexpr uint32_t kHostsPerLeaf = 16;
constexpr uint32_t kHosts = kLeaves * kHostsPerLeaf;

// More packets than ever wait: nothing is dropped.
constexpr uint32_t kEndlessQueue = 1000000;

inline uint32_t LeafOf(uint32_t host)
{
    return host / kHostsPerLeaf;
}

inline uint32_t SpineTowards(uint32_t host)
{
    return host % kSpines;
}

struct Fabric
{
    using Device = ns3::Ptr<ns3::PointToPointNetDevice>;

    ns3::NodeContainer hosts;
    ns3::NodeContainer leaves;
    ns3::NodeContainer spines;

    std::vector<Device> nic;                  // by host: its own device
    std::vector<Device> towardsHost;          // by host: the one of its leaf that leads there
    std::vector<std::vector<Device>> up;      // by leaf and spine: of the leaf
    std::vector<std::vector<Device>> down;    // by spine and leaf: of the spine

    // With `flowControl` a device stops a queue disc above it while its own queue is full. The bare
    // devices have no queue disc and do without.
    explicit Fabric(bool flowControl)
    {
        hosts.Create(kHosts);
        leaves.Create(kLeaves);
        spines.Create(kSpines);

        ns3::PointToPointHelper link;
        link.SetChannelAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(200)));
        if (!flowControl)
        {
            link.DisableFlowControl();
        }

        link.SetDeviceAttribute("DataRate", ns3::StringValue("100Gbps"));
        for (uint32_t host = 0; host < kHosts; ++host)
        {
            auto ends = link.Install(hosts.Get(host), leaves.Get(LeafOf(host)));
            nic.push_back(At(ends, 0));
            towardsHost.push_back(At(ends, 1));
        }

        link.SetDeviceAttribute("DataRate", ns3::StringValue("200Gbps"));
        up.resize(kLeaves);
        down.resize(kSpines);
        for (uint32_t leaf = 0; leaf < kLeaves; ++leaf)
        {
            for (uint32_t spine = 0; spine < kSpines; ++spine)
            {
                auto ends = link.Install(leaves.Get(leaf), spines.Get(spine));
                up[leaf].push_back(At(ends, 0));
                down[spine].push_back(At(ends, 1));
            }
        }

        SetQueues(nic, kEndlessQueue);
        SetSwitchQueues(kEndlessQueue);
    }

    // How many packets wait in the devices of switches, at most.
    void SetSwitchQueues(uint32_t packets)
    {
        SetQueues(towardsHost, packets);
        for (const auto& devices : up)
        {
            SetQueues(devices, packets);
        }
        for (const auto& devices : down)
        {
            SetQueues(devices, packets);
        }
    }

    // The device by which a leaf sends on what goes to this host.
    Device FromLeaf(uint32_t leaf, uint32_t host) const
    {
        return leaf == LeafOf(host) ? towardsHost[host] : up[leaf][SpineTowards(host)];
    }

    // The same of a spine.
    Device FromSpine(uint32_t spine, uint32_t host) const
    {
        return down[spine][LeafOf(host)];
    }

    // The devices of all switches, for instance to give them a queue disc.
    std::vector<Device> SwitchDevices() const
    {
        std::vector<Device> all = towardsHost;
        for (const auto& devices : up)
        {
            all.insert(all.end(), devices.begin(), devices.end());
        }
        for (const auto& devices : down)
        {
            all.insert(all.end(), devices.begin(), devices.end());
        }
        return all;
    }

    // Packets put on a link: all that joined the queue of a device and is not there any more. An idle
    // device, too, passes packets through its queue; so counting costs nothing while the run goes on.
    uint64_t Hops() const
    {
        uint64_t hops = 0;
        auto count = [&hops](const Device& device) {
            auto queue = device->GetQueue();
            hops += queue->GetTotalReceivedPackets() - queue->GetNPackets();
        };
        for (const auto& device : nic)
        {
            count(device);
        }
        for (const auto& device : SwitchDevices())
        {
            count(device);
        }
        return hops;
    }

    // Packets that devices dropped; 0 in every case here.
    uint64_t Drops() const
    {
        uint64_t drops = 0;
        for (const auto& device : nic)
        {
            drops += device->GetQueue()->GetTotalDroppedPackets();
        }
        for (const auto& device : SwitchDevices())
        {
            drops += device->GetQueue()->GetTotalDroppedPackets();
        }
        return drops;
    }

  private:
    static Device At(const ns3::NetDeviceContainer& ends, uint32_t which)
    {
        return ns3::DynamicCast<ns3::PointToPointNetDevice>(ends.Get(which));
    }

    static void SetQueues(const std::vector<Device>& devices, uint32_t packets)
    {
        for (const auto& device : devices)
        {
            device->GetQueue()->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, packets));
        }
    }
};

// CPU seconds of this process so far.
inline double CpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Simulates until `end`; the CPU seconds that it took.
inline double RunUntil(ns3::Time end)
{
    ns3::Simulator::Stop(end);
    double before = CpuSeconds();
    ns3::Simulator::Run();
    return CpuSeconds() - before;
}

// One line of JSON. `more` is further members, each after a comma.
inline void PrintResult(uint64_t hops, double cpu, double setup, const std::string& more)
{
    std::printf("{\"hops\": %llu, \"cpu_s\": %.6f, \"setup_s\": %.6f%s}\n",
                static_cast<unsigned long long>(hops),
                cpu,
                setup,
                more.c_str());
}

// A member of that object.
inline std::string Member(const std::string& name, uint64_t value)
{
    return ", \"" + name + "\": " + std::to_string(value);
}

#endif
