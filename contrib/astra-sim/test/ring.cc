// A system layer in small: a ring all-reduce whose time on an idle star can be computed by hand, and the rules about
// receives, local messages and timers. Prints what is wrong.
#include "floodway_network.hh"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <stdexcept>

using floodway::Network;
using floodway::Rank;

namespace {

bool wrong = false;

void expect(bool holds, const char *what) {
    if (!holds) {
        std::printf("%s\n", what);
        wrong = true;
    }
}

const char *const SCENARIO = "ring.toml";

// Host latency, and a full packet with headers, preamble and gap at 100 Gb/s, in nanoseconds.
constexpr double LATENCY = 2000;
constexpr double FULL = (1024 + 62 + 20) * 0.08;

floodway_options options() {
    floodway_options options{};
    options.replication = -1;
    options.latency_ps = 2'000'000;
    options.threads = 2;
    options.audit = 1;
    return options;
}

// A message of four packets over two hops of 200 ns.
constexpr uint64_t BYTES = 4 * 1024;
constexpr double MESSAGE = LATENCY + 5 * FULL + 400;

double now(Rank &rank) { return static_cast<double>(rank.sim_get_time().time_val); }

bool near(double a, double b) { return std::fabs(a - b) < 1e-6; }

// Calls a function of C++ once.
void call(void *argument) {
    auto *function = static_cast<std::function<void()> *>(argument);
    (*function)();
    delete function;
}

void *made(std::function<void()> function) { return new std::function<void()>(std::move(function)); }

// One rank of a ring all-reduce: 2 (N - 1) steps; what has arrived in one is sent on in the next.
struct Member {
    Network &network;
    int number;
    int step = 0;
    double ended = 0;

    void begin() {
        const int ranks = network.ranks();
        Rank &rank = network.rank(number);
        if (step == 2 * (ranks - 1)) {
            ended = now(rank);
            rank.sim_notify_finished();
            return;
        }
        rank.sim_send(nullptr, BYTES, 0, (number + 1) % ranks, step, nullptr, call, made([] {}));
        rank.sim_recv(nullptr, BYTES, 0, (number + ranks - 1) % ranks, step, nullptr, call, made([this] {
                          ++step;
                          begin();
                      }));
    }
};

void ring() {
    Network network(SCENARIO, options(), {0, 1, 2, 3});
    std::vector<Member> members;
    for (int number = 0; number < network.ranks(); ++number) {
        members.push_back(Member{network, number});
    }
    for (Member &member : members) {
        member.begin();
    }
    network.run();
    expect(network.finished(), "the ring does not end");
    for (const Member &member : members) {
        // Every port carries one message at a time, and acknowledgements come after it.
        expect(near(member.ended, 6 * MESSAGE), "a rank of the ring ends at another time than 6 messages take");
    }
    expect(network.close("").violations == 0, "the ring has violations");
}

void rules() {
    Network network(SCENARIO, options(), {0, 1, 2, 2});
    std::string order;
    double early = -1, late = -1, sent = -1, local = -1, timer = -1;
    // A receive before its message, and one long after it.
    network.rank(1).sim_recv(nullptr, BYTES, 0, 0, 5, nullptr, call, made([&] { early = now(network.rank(1)); }));
    network.rank(0).sim_send(nullptr, BYTES, 0, 1, 5, nullptr, call, made([&] { sent = now(network.rank(0)); }));
    network.rank(0).sim_schedule({AstraSim::NS, 20'000}, call, made([&] {
                                     network.rank(0).sim_send(nullptr, BYTES, 0, 1, 5, nullptr, call, made([] {}));
                                 }));
    network.rank(1).sim_schedule({AstraSim::NS, 50'000.5L}, call, made([&] {
                                     timer = now(network.rank(1));
                                     network.rank(1).sim_recv(nullptr, BYTES, 0, 0, 5, nullptr, call,
                                                              made([&] { late = now(network.rank(1)); }));
                                 }));
    // Two ranks on one host, and a message of nothing.
    network.rank(3).sim_recv(nullptr, 77, 0, 2, 1, nullptr, call, made([&] { local = now(network.rank(3)); }));
    network.rank(2).sim_send(nullptr, 77, 0, 3, 1, nullptr, call, made([] {}));
    network.rank(0).sim_recv(nullptr, 0, 0, 1, 1, nullptr, call, made([&] { order += 'n'; }));
    network.rank(1).sim_send(nullptr, 0, 0, 0, 1, nullptr, call, made([] {}));
    // Timers at one time in the order in which they were made, those made meanwhile last.
    network.rank(0).sim_schedule({AstraSim::NS, 0}, call, made([&] {
                                     order += 'a';
                                     network.rank(0).sim_schedule({AstraSim::NS, 0}, call, made([&] { order += 'c'; }));
                                 }));
    network.rank(0).sim_schedule({AstraSim::NS, 0}, call, made([&] { order += 'b'; }));
    network.run();
    expect(near(early, MESSAGE) && near(sent, MESSAGE), "a message arrives at another time");
    expect(near(timer, 50'000.5), "a timer is not in time");
    expect(near(late, 50'000.5), "a late receive is not answered at once");
    expect(near(local, 0), "a message within a host takes time");
    expect(order == "nabc", "events at one time are in another order");
    expect(!network.finished(), "nobody has finished");
    // Who has finished leaves no timers behind that go on.
    for (int number = 0; number < network.ranks(); ++number) {
        network.rank(number).sim_notify_finished();
        network.rank(number).sim_notify_finished();
    }
    bool fired = false;
    auto *never = new std::function<void()>([&] { fired = true; });
    network.rank(0).sim_schedule({AstraSim::NS, 1}, call, never);
    network.run();
    expect(network.finished() && !fired, "events go on after all ranks have finished");
    delete never;
}

template <typename Call> void throws(const char *text, Call call) {
    try {
        call();
        expect(false, text);
    } catch (const std::runtime_error &error) {
        if (std::string(error.what()) != text) {
            std::printf("expected: %s\nfound:    %s\n", text, error.what());
            wrong = true;
        }
    }
}

}  // namespace

int main() {
    std::ofstream(SCENARIO) << "name = \"ring\"\narrivals = \"1us\"\nlimit = \"1ms\"\ntopology.star.hosts = 4\n"
                               "host.congestion = \"line_rate\"\nworkload = [{ permutation.bytes = \"1KB\" }]\n";
    ring();
    rules();
    throws("rank 1 is on host 4, and the network has 4 hosts, counted from 0",
           [] { Network network(SCENARIO, options(), {0, 4}); });
    throws("sim_schedule: the delta must be at least 0 and in nanoseconds", [] {
        Network network(SCENARIO, options(), {0});
        network.rank(0).sim_schedule({AstraSim::US, 1}, nullptr, nullptr);
    });
    throws("2ms is after the end of the simulation, 1ms: raise `limit` in the scenario", [] {
        Network network(SCENARIO, options(), {0});
        network.rank(0).sim_schedule({AstraSim::NS, 2'000'000}, call, nullptr);
        network.run();
    });
    // 1 GB takes 86 ms at 100 Gb/s.
    throws("2 messages have not arrived when the simulation ends: raise `limit` in the scenario", [] {
        Network network(SCENARIO, options(), {0, 1, 2, 3});
        network.rank(0).sim_send(nullptr, 1'000'000'000, 0, 1, 0, nullptr, nullptr, nullptr);
        network.rank(2).sim_send(nullptr, 1'000'000'000, 0, 3, 0, nullptr, nullptr, nullptr);
        network.run();
    });
    if (!wrong) {
        std::puts("all is well");
    }
    return wrong ? 1 : 0;
}
