// The IP stack over the network of fabric.h, as cheap as ns-3 allows: forwarding looks into an array
// instead of searching a list of routes, and routes are made once.

#ifndef FLOODWAY_PEERS_STACK_H
#define FLOODWAY_PEERS_STACK_H

#include "fabric.h"

#include "ns3/internet-module.h"

#include <array>
#include <cstddef>
#include <tuple>

// Host h has the address 10.0.0.0 + h + 1; switches have none.
constexpr uint32_t kFirstAddress = 0x0a000001;

inline ns3::Ipv4Address AddressOf(uint32_t host)
{
    return ns3::Ipv4Address(kFirstAddress + host);
}

// The types of the arguments of a member function: those of RouteInput differ between versions of
// ns-3, which passes callbacks by value or by reference.
template <class F>
struct Arguments;

template <class R, class C, class... A>
struct Arguments<R (C::*)(A...)>
{
    template <std::size_t N>
    using At = std::tuple_element_t<N, std::tuple<A...>>;
};

using RouteInputArguments = Arguments<decltype(&ns3::Ipv4RoutingProtocol::RouteInput)>;

// One node's routes: an array by destination host.
class TableRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId id = ns3::TypeId("peers::TableRouting")
                                    .SetParent<ns3::Ipv4RoutingProtocol>()
                                    .AddConstructor<TableRouting>();
        return id;
    }

    // What goes to `host` leaves by `device`; `source` is the address of this node, if it has one.
    void Set(uint32_t host, ns3::Ptr<ns3::NetDevice> device, ns3::Ipv4Address source)
    {
        auto route = ns3::Create<ns3::Ipv4Route>();
        route->SetDestination(AddressOf(host));
        route->SetGateway(ns3::Ipv4Address::GetZero());
        route->SetOutputDevice(device);
        route->SetSource(source);
        m_routes[host] = route;
    }

    // Packets for this host are delivered here, which is reached on interface 1.
    void SetOwn(uint32_t host)
    {
        m_own = host;
    }

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet>,
                                         const ns3::Ipv4Header& header,
                                         ns3::Ptr<ns3::NetDevice>,
                                         ns3::Socket::SocketErrno& error) override
    {
        error = ns3::Socket::ERROR_NOTERROR;
        return m_routes[HostOf(header)];
    }

    bool RouteInput(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice>,
                    RouteInputArguments::At<3> forward,
                    RouteInputArguments::At<4>,
                    RouteInputArguments::At<5> deliver,
                    RouteInputArguments::At<6>) override
    {
        uint32_t host = HostOf(header);
        if (host == m_own)
        {
            deliver(packet, header, 1);
        }
        else
        {
            forward(m_routes[host], packet, header);
        }
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void SetIpv4(ns3::Ptr<ns3::Ipv4>) override {}
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

  private:
    static uint32_t HostOf(const ns3::Ipv4Header& header)
    {
        return header.GetDestination().Get() - kFirstAddress;
    }

    std::array<ns3::Ptr<ns3::Ipv4Route>, kHosts> m_routes;
    uint32_t m_own = kHosts;
};

// How a node gets its routing.
class TableRoutingHelper : public ns3::Ipv4RoutingHelper
{
  public:
    TableRoutingHelper* Copy() const override
    {
        return new TableRoutingHelper(*this);
    }

    ns3::Ptr<ns3::Ipv4RoutingProtocol> Create(ns3::Ptr<ns3::Node>) const override
    {
        return ns3::CreateObject<TableRouting>();
    }
};

// Gives every node an IP stack, every device an interface, and every host its address. Queue discs,
// if any, have to be installed after this.
inline void InstallStack(const Fabric& fabric)
{
    ns3::InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(TableRoutingHelper());
    stack.Install(fabric.hosts);
    stack.Install(fabric.leaves);
    stack.Install(fabric.spines);

    auto prepare = [](const ns3::Ptr<ns3::Node>& node) {
        auto ipv4 = node->GetObject<ns3::Ipv4>();
        for (uint32_t number = 0; number < node->GetNDevices(); ++number)
        {
            auto device = ns3::DynamicCast<ns3::PointToPointNetDevice>(node->GetDevice(number));
            if (device) // not the loopback
            {
                ipv4->SetUp(ipv4->AddInterface(device));
            }
        }
        return ns3::DynamicCast<TableRouting>(ipv4->GetRoutingProtocol());
    };
    for (uint32_t leaf = 0; leaf < kLeaves; ++leaf)
    {
        auto routing = prepare(fabric.leaves.Get(leaf));
        for (uint32_t host = 0; host < kHosts; ++host)
        {
            routing->Set(host, fabric.FromLeaf(leaf, host), ns3::Ipv4Address::GetZero());
        }
    }
    for (uint32_t spine = 0; spine < kSpines; ++spine)
    {
        auto routing = prepare(fabric.spines.Get(spine));
        for (uint32_t host = 0; host < kHosts; ++host)
        {
            routing->Set(host, fabric.FromSpine(spine, host), ns3::Ipv4Address::GetZero());
        }
    }
    for (uint32_t own = 0; own < kHosts; ++own)
    {
        auto node = fabric.hosts.Get(own);
        auto routing = prepare(node);
        routing->SetOwn(own);
        for (uint32_t host = 0; host < kHosts; ++host)
        {
            routing->Set(host, fabric.nic[own], AddressOf(own));
        }
        auto ipv4 = node->GetObject<ns3::Ipv4>();
        uint32_t interface = ipv4->GetInterfaceForDevice(fabric.nic[own]);
        ipv4->AddAddress(interface, ns3::Ipv4InterfaceAddress(AddressOf(own), ns3::Ipv4Mask("/8")));
    }
}

#endif
