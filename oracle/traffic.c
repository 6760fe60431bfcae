/*
 * The traffic of an oracle run, and its observation. One thread with the sockets of all namespaces, so that there is one
 * order of events.
 *
 *   traffic run    reads the description `run` of the current directory and writes the tables flows.csv, measured.csv,
 *                  deliveries.csv, departures.csv, windows.csv, operations.csv and pings.csv, and the file `hash`
 *   traffic dualpi2 DEVICE    a queueing discipline that tc may not know, under class 1:1: DualPI2 with the low latency
 *                             queue for all that is ECN-capable, because DCTCP sends ECT(0), and defaults otherwise
 *   traffic off    switches the kernel off
 *
 * Columns have the names and units of floodway's tables where floodway has such a table. Each packet is observed twice in
 * the router, before and after the queue: what comes out later has waited, what does not come out was dropped, what comes
 * out with CE was marked.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t u64;

enum { SECOND = 1000000000, FIRST_PORT = 10000, PORTS = 50000, LISTEN = 5000, MOST_WORKLOADS = 16, BINS = 64 * 40 };
/* Descriptors are for both ends of all flows. */
static const u64 MOST_BULK = 10000, MOST_BYTES = 1000000000000;
enum kind { BULK, POISSON, REQUEST };

struct workload {
	enum kind kind;
	char control[16];
	bool ecn;
	bool upload;	 /* bulk: from B to A */
	long count;	 /* bulk, request */
	double rate;	 /* poisson: starts per second */
	u64 bytes;	 /* poisson: of a flow; request: of a request */
	u64 answer;	 /* request: of an answer */
	u64 pause;	 /* request: from an answer to the next request */
	int listener;
};

/* A packet before the queue: its IPv4 identification, and when it came. */
struct waiting {
	uint16_t id;
	bool data;
	u64 at;
};

struct counters {
	u64 delivered, sent, retransmitted, lost, marked;
};

struct flow {
	int workload, client, server;
	u64 start, fct;
	struct counters whole, at_warmup;
	u64 rtt_sum, rtt_n;
	/* Of a request: bytes that are still to be sent or read in this direction. */
	u64 to_send, to_answer, of_request, of_answer, requested, next;
	bool shut;
	struct waiting *queue;
	size_t head, tail, room;
};

/* Packets that the kernel has observed at a device. */
struct ring {
	unsigned char *slots;
	size_t next;
	bool after;
};
enum { SLOT = 256, SLOTS = 1 << 15, BLOCK = 1 << 16, LEAST_READ = 1 << 16 };

static struct workload workloads[MOST_WORKLOADS];
static int workload_count;
static struct flow *flows;
static long flow_count, started;
static u64 seconds, warmup, jitter, ping_every, begin;
static u64 bins[MOST_WORKLOADS][BINS];
static u64 hash = 0xcbf29ce484222325ULL;
static u64 strays;
static int poll_fd, timer_fd, ping_fd = -1;
static struct ring before_queue, after_queue;
static int namespaces[3];
static FILE *windows, *deliveries, *operations, *pings;
static char scratch[1 << 16];

static void fail(const char *what)
{
	fprintf(stderr, "traffic: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void complain(const char *what, const char *value)
{
	fprintf(stderr, "traffic: %s: %s\n", what, value);
	exit(1);
}

/* Nanoseconds since the traffic began. */
static u64 now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (u64)t.tv_sec * SECOND + (u64)t.tv_nsec - begin;
}

/* Uniform between 0 and 1, both excluded, from the pool of the kernel, which the command line seeds. */
static double uniform(void)
{
	u64 word;
	if (getrandom(&word, sizeof word, 0) != sizeof word)
		fail("getrandom");
	return ((double)(word >> 12) + 0.5) / (double)(1ULL << 52);
}

static void enter(char name)
{
	if (setns(namespaces[name == 'A' ? 0 : name == 'R' ? 1 : 2], CLONE_NEWNET))
		fail("setns");
}

static void watch(int fd, uint32_t events, u64 tag)
{
	struct epoll_event event = {.events = events, .data.u64 = tag};
	if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event) && errno != EEXIST)
		fail("epoll_ctl");
}

/* Tags of events: what they are, and a number. */
enum { TIMER, PING, ACCEPT, CLIENT, SERVER };
static u64 tag(u64 what, u64 number) { return what << 32 | number; }

/* ---- The description ---- */

static u64 time_of(const char *text)
{
	char *unit;
	double value = strtod(text, &unit);
	if (!(value >= 0 && value <= 1e6))
		complain("not a time from 0 to 1,000,000 s", text);
	if (!strcmp(unit, "s"))
		return (u64)(value * 1e9);
	if (!strcmp(unit, "ms"))
		return (u64)(value * 1e6);
	if (!strcmp(unit, "us"))
		return (u64)(value * 1e3);
	complain("not a time in s, ms or us", text);
	return 0;
}

/* A whole number from 1 to `most`. */
static u64 number_of(const char *text, u64 most)
{
	char *end;
	errno = 0;
	u64 value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < 1 || value > most) {
		fprintf(stderr, "traffic: not a whole number from 1 to %llu: %s\n", (unsigned long long)most, text);
		exit(1);
	}
	return value;
}

static void read_workload(enum kind kind, bool upload, const char *line)
{
	struct workload *w = &workloads[workload_count];
	char control[16], first[32], second[32] = "", third[32] = "", ecn[8] = "";
	int words;
	if (workload_count == MOST_WORKLOADS)
		complain("more than 16 workloads", line);
	if (kind == REQUEST)
		words = sscanf(line, "%15s %31s %31s %31s %7s", control, first, second, third, ecn) - 2;
	else if (kind == POISSON)
		words = sscanf(line, "%15s %31s %31s %7s", control, first, second, ecn) - 1;
	else
		words = sscanf(line, "%15s %31s %7s", control, first, ecn);
	if (words < 2 || (*ecn && strcmp(ecn, "ecn")))
		complain("not a workload", line);
	*w = (struct workload){.kind = kind, .ecn = *ecn, .upload = upload, .count = 1};
	strcpy(w->control, control);
	if (kind == BULK)
		w->count = (long)number_of(first, MOST_BULK);
	else
		w->bytes = number_of(first, MOST_BYTES);
	if (kind == POISSON) {
		char *end;
		w->rate = strtod(second, &end);
		if (*end || !(w->rate > 0 && w->rate <= 1e5))
			complain("not a number of flows per second above 0, up to 100,000", second);
	}
	if (kind == REQUEST) {
		w->answer = number_of(second, MOST_BYTES);
		w->pause = time_of(third);
	}
	workload_count++;
}

/* Words of the description that are not for the traffic. */
static bool for_init(const char *key)
{
	const char *known[] = {"seed", "rate", "rtt", "qdisc", "up", "qdisc_up", "line"};
	for (size_t n = 0; n < sizeof known / sizeof *known; n++)
		if (!strcmp(key, known[n]))
			return true;
	return false;
}

static void read_description(void)
{
	char key[32], line[256];
	FILE *file = fopen("run", "r");
	if (!file)
		fail("run");
	while (fgets(line, sizeof line, file)) {
		int at = 0;
		if (!strchr(line, '\n') && !feof(file))
			complain("a line has more than 254 characters", line);
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%31s %n", key, &at) < 1 || *key == '#')
			continue;
		const char *rest = line + at;
		if (!strcmp(key, "seconds"))
			seconds = time_of(rest);
		else if (!strcmp(key, "warmup"))
			warmup = time_of(rest);
		else if (!strcmp(key, "jitter"))
			jitter = time_of(rest);
		else if (!strcmp(key, "ping"))
			ping_every = time_of(rest);
		else if (!strcmp(key, "bulk"))
			read_workload(BULK, false, rest);
		else if (!strcmp(key, "upload"))
			read_workload(BULK, true, rest);
		else if (!strcmp(key, "poisson"))
			read_workload(POISSON, false, rest);
		else if (!strcmp(key, "request"))
			read_workload(REQUEST, false, rest);
		else if (!for_init(key))
			complain("unknown word in the description", line);
	}
	fclose(file);
	if (seconds <= warmup || !workload_count)
		complain("the description has no `seconds` above its `warmup`, or no traffic", "run");
}

static int by_start(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;
	return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : x->workload - y->workload;
}

static void add_flow(int workload, u64 start)
{
	static long room;
	if (flow_count == room) {
		room = room ? 2 * room : 64;
		flows = realloc(flows, (size_t)room * sizeof *flows);
		if (!flows)
			fail("flows");
	}
	flows[flow_count++] = (struct flow){.workload = workload, .client = -1, .server = -1, .start = start, .next = UINT64_MAX};
}

static void make_flows(void)
{
	for (int n = 0; n < workload_count; n++) {
		struct workload *w = &workloads[n];
		double at = 0;
		for (long i = 0; w->kind != POISSON && i < w->count; i++)
			add_flow(n, (u64)((double)jitter * uniform()));
		while (w->kind == POISSON && (at += -log(uniform()) / w->rate * 1e9) < (double)seconds)
			add_flow(n, (u64)at);
	}
	qsort(flows, (size_t)flow_count, sizeof *flows, by_start);
}

/* ---- Connections ---- */

static void set_control(int fd, const char *control)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, (socklen_t)strlen(control)))
		fail(control);
}

static struct sockaddr_in address(const char *ip, int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	inet_pton(AF_INET, ip, &to.sin_addr);
	return to;
}

static int tcp_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
	if (fd < 0)
		fail("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	return fd;
}

static void listen_for(int n)
{
	bool upload = workloads[n].upload;
	enter(upload ? 'A' : 'B');
	struct sockaddr_in at = address(upload ? "10.0.0.1" : "10.0.1.1", LISTEN + n);
	int fd = workloads[n].listener = tcp_socket();
	set_control(fd, workloads[n].control);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 4096))
		fail("listen");
	watch(fd, EPOLLIN, tag(ACCEPT, (u64)n));
}

static void ask(struct flow *f, u64 time)
{
	const struct workload *w = &workloads[f->workload];
	f->to_send = w->bytes;
	f->of_request = w->bytes;
	f->of_answer = w->answer;
	f->requested = time;
	f->next = UINT64_MAX;
}

static void write_client(struct flow *f)
{
	const struct workload *w = &workloads[f->workload];
	while (w->kind == BULK || f->to_send > 0) {
		size_t size = w->kind == BULK || f->to_send > sizeof scratch ? sizeof scratch : (size_t)f->to_send;
		ssize_t sent = send(f->client, scratch, size, MSG_NOSIGNAL);
		if (sent < 0)
			return;
		if (w->kind != BULK)
			f->to_send -= (u64)sent;
	}
	/* Once: it wakes whoever waits for the socket, and time stands still for a program that is always awake. */
	if (w->kind == POISSON && !f->shut) {
		f->shut = true;
		shutdown(f->client, SHUT_WR);
	}
}

static void start_flow(long n)
{
	struct flow *f = &flows[n];
	const struct workload *w = &workloads[f->workload];
	struct sockaddr_in from = address(w->upload ? "10.0.1.1" : "10.0.0.1", FIRST_PORT + (int)(n % PORTS));
	struct sockaddr_in to = address(w->upload ? "10.0.0.1" : "10.0.1.1", LISTEN + f->workload);
	if (w->upload)
		enter('B');
	int ecn = open("/proc/sys/net/ipv4/tcp_ecn", O_WRONLY);
	if (ecn < 0 || write(ecn, w->ecn ? "1" : "2", 1) != 1)
		fail("tcp_ecn");
	close(ecn);
	f->client = tcp_socket();
	set_control(f->client, w->control);
	if (bind(f->client, (struct sockaddr *)&from, sizeof from))
		fail("bind");
	if (connect(f->client, (struct sockaddr *)&to, sizeof to) && errno != EINPROGRESS)
		fail("connect");
	if (w->kind == POISSON)
		f->to_send = w->bytes;
	if (w->kind == REQUEST)
		ask(f, f->start);
	watch(f->client, EPOLLOUT | EPOLLIN | EPOLLET, tag(CLIENT, (u64)n));
	if (w->upload)
		enter('A');
}

static void read_client(struct flow *f, long n)
{
	const struct workload *w = &workloads[f->workload];
	ssize_t got;
	while ((got = recv(f->client, scratch, sizeof scratch, 0)) > 0) {
		if (w->kind != REQUEST)
			continue;
		f->of_answer -= (u64)got;
		if (f->of_answer == 0) {
			u64 at = now();
			fprintf(operations, "%ld,%lu,%lu,%lu\n", n, f->requested, w->bytes + w->answer, at);
			f->next = at + w->pause;
		}
	}
}

static void accept_all(int n)
{
	struct sockaddr_in from;
	socklen_t size = sizeof from;
	int fd;
	while ((fd = accept4(workloads[n].listener, (struct sockaddr *)&from, &size, SOCK_NONBLOCK)) >= 0) {
		/* The newest flow with this port. */
		long flow = ntohs(from.sin_port) - FIRST_PORT;
		while (flow + PORTS < started)
			flow += PORTS;
		flows[flow].server = fd;
		/* Bulk data are read in larger pieces, which is faster. The kernel acknowledges as if they were read at once. */
		int least = workloads[n].kind == BULK ? LEAST_READ : 1;
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
		watch(fd, EPOLLIN | EPOLLOUT | EPOLLET, tag(SERVER, (u64)flow));
	}
	if (errno != EAGAIN)
		fail("accept");
}

static void serve(struct flow *f)
{
	const struct workload *w = &workloads[f->workload];
	ssize_t got;
	while ((got = recv(f->server, scratch, sizeof scratch, 0)) > 0) {
		f->whole.delivered += (u64)got;
		if (w->kind == POISSON && f->whole.delivered == w->bytes)
			f->fct = now() - f->start;
		if (w->kind == REQUEST && (f->of_request -= (u64)got) == 0)
			f->to_answer = w->answer;
	}
	while (f->to_answer > 0) {
		size_t size = f->to_answer > sizeof scratch ? sizeof scratch : (size_t)f->to_answer;
		ssize_t sent = send(f->server, scratch, size, MSG_NOSIGNAL);
		if (sent < 0)
			return;
		f->to_answer -= (u64)sent;
	}
	if (got == 0 && w->kind == POISSON) {
		close(f->server);
		close(f->client);
		f->server = f->client = -1;
	}
}

/* ---- Observation ---- */

/* The bin of a time: 64 per doubling, as in floodway. */
static int bin(u64 ns)
{
	int shift = 0;
	while (ns >> shift >= 128)
		shift++;
	return shift == 0 ? (int)ns : shift * 64 + (int)(ns >> shift);
}

static u64 upper_edge(int bin)
{
	int shift = bin < 128 ? 0 : bin / 64 - 1;
	return shift == 0 ? (u64)bin : ((u64)(bin - shift * 64 + 1) << shift) - 1;
}

static void hash_in(const void *data, size_t size)
{
	for (const unsigned char *at = data; size--; at++)
		hash = (hash ^ *at) * 0x100000001b3ULL;
}

static void came(struct flow *f, uint16_t id, bool data, u64 at)
{
	if (f->tail == f->room) {
		size_t left = f->tail - f->head;
		if (f->head > f->room / 2) {
			memmove(f->queue, f->queue + f->head, left * sizeof *f->queue);
		} else {
			struct waiting *more = malloc((f->room ? 2 * f->room : 64) * sizeof *more);
			if (!more)
				fail("queue");
			if (left)
				memcpy(more, f->queue + f->head, left * sizeof *more);
			free(f->queue);
			f->queue = more;
			f->room = f->room ? 2 * f->room : 64;
		}
		f->head = 0;
		f->tail = left;
	}
	f->queue[f->tail++] = (struct waiting){id, data, at};
	f->whole.sent += data;
}

/* Flows stay in order, so packets of the same flow that came earlier and are still here were dropped. */
static void went(struct flow *f, uint16_t id, bool ce, u64 at)
{
	size_t n = f->head;
	while (n < f->tail && f->queue[n].id != id)
		n++;
	if (n == f->tail) {
		strays++;
		return;
	}
	for (; f->head < n; f->head++)
		f->whole.lost += f->queue[f->head].data;
	struct waiting *packet = &f->queue[f->head++];
	if (!packet->data)
		return;
	f->whole.marked += ce;
	if (at >= warmup)
		bins[f->workload][bin(at - packet->at)]++;
}

static void observe(const unsigned char *frame, size_t size, u64 at, bool after)
{
	if (size > ETH_FRAME_LEN)
		complain("a packet is longer than the path", "segmentation offload is on");
	if (frame[12] != 8 || frame[13] != 0 || frame[23] != IPPROTO_TCP)
		return;
	hash_in(&at, sizeof at);
	hash_in(frame, size < 74 ? size : 74);
	const unsigned char *ip = frame + ETH_HLEN, *tcp = ip + (ip[0] & 15) * 4;
	long port = (tcp[0] << 8 | tcp[1]) - FIRST_PORT;
	if (port < 0 || port >= PORTS)
		return;
	while (port + PORTS < started)
		port += PORTS;
	if (port >= flow_count)
		return;
	bool data = (ip[2] << 8 | ip[3]) > (ip[0] & 15) * 4 + (tcp[12] >> 4) * 4;
	uint16_t id = (uint16_t)(ip[4] << 8 | ip[5]);
	if (after)
		went(&flows[port], id, (ip[1] & 3) == 3, at);
	else
		came(&flows[port], id, data, at);
}

/* Reads what the kernel has written to a ring since the last time. */
static void drain(struct ring *ring)
{
	for (;;) {
		unsigned char *slot = ring->slots + ring->next * SLOT;
		struct tpacket2_hdr *header = (struct tpacket2_hdr *)slot;
		if (!(header->tp_status & TP_STATUS_USER))
			return;
		if (header->tp_status & TP_STATUS_LOSING)
			complain("packets were not observed", "the ring is too small");
		const struct sockaddr_ll *from = (const void *)(slot + TPACKET_ALIGN(sizeof *header));
		if ((from->sll_pkttype == PACKET_OUTGOING) == ring->after)
			observe(slot + header->tp_mac, header->tp_len, (u64)header->tp_sec * SECOND + header->tp_nsec - begin, ring->after);
		header->tp_status = TP_STATUS_KERNEL;
		ring->next = (ring->next + 1) % SLOTS;
	}
}

/* The kernel writes packets to memory that is shared, so that none of them wakes this program. */
static void observer(struct ring *ring, const char *device, bool after)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(device)};
	struct tpacket_req request = {.tp_block_size = BLOCK, .tp_block_nr = SLOTS * SLOT / BLOCK, .tp_frame_size = SLOT, .tp_frame_nr = SLOTS};
	int fd = socket(AF_PACKET, SOCK_RAW, 0), version = TPACKET_V2, one = 1;
	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) ||
	    setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request))
		fail(device);
	if (!after)
		setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one);
	ring->slots = mmap(NULL, SLOTS * SLOT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring->slots == MAP_FAILED || bind(fd, (struct sockaddr *)&at, sizeof at))
		fail(device);
	ring->after = after;
}

/* ---- Samples ---- */

static void sample(u64 at, bool write)
{
	drain(&before_queue);
	drain(&after_queue);
	for (long n = 0; n < started; n++) {
		struct flow *f = &flows[n];
		struct tcp_info info;
		socklen_t size = sizeof info;
		if (f->client < 0 || getsockopt(f->client, IPPROTO_TCP, TCP_INFO, &info, &size))
			continue;
		f->whole.retransmitted = info.tcpi_total_retrans;
		if (f->server >= 0)
			serve(f);
		if (!write || workloads[f->workload].kind != BULK)
			continue;
		if (at >= warmup && info.tcpi_rtt) {
			f->rtt_sum += (u64)info.tcpi_rtt * 1000;
			f->rtt_n++;
		}
		fprintf(windows, "%lu,%ld,%u,%u,%u\n", at, n, info.tcpi_snd_cwnd, info.tcpi_rtt * 1000, info.tcpi_unacked);
		fprintf(deliveries, "%lu,%ld,%lu\n", at, n, f->whole.delivered);
	}
}

static uint16_t checksum(const void *data, size_t words)
{
	const uint16_t *at = data;
	uint32_t sum = 0;
	while (words--)
		sum += *at++;
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)~(sum + (sum >> 16));
}

struct ping {
	struct icmphdr header;
	u64 sent;
};

static void send_ping(u64 at)
{
	struct ping ping = {.header = {.type = ICMP_ECHO}, .sent = at};
	struct sockaddr_in to = address("10.0.1.1", 0);
	ping.header.checksum = checksum(&ping, sizeof ping / 2);
	sendto(ping_fd, &ping, sizeof ping, 0, (struct sockaddr *)&to, sizeof to);
}

static void read_pings(void)
{
	struct {
		unsigned char ip[20];
		struct ping ping;
	} __attribute__((packed)) answer;
	while (recv(ping_fd, &answer, sizeof answer, 0) == sizeof answer)
		if (answer.ping.header.type == ICMP_ECHOREPLY)
			fprintf(pings, "%lu,%lu\n", answer.ping.sent, now() - answer.ping.sent);
}

/* ---- The run ---- */

/* What is due, and when something is due next. */
static u64 due(u64 at)
{
	static u64 next_sample = SECOND / 10, next_ping;
	static bool warm;
	if (!warm && at >= warmup) {
		warm = true;
		sample(at, false);
		for (long n = 0; n < started; n++)
			flows[n].at_warmup = flows[n].whole;
	}
	for (; started < flow_count && flows[started].start <= at;)
		start_flow(started++);
	for (long n = 0; n < started; n++)
		if (flows[n].next <= at) {
			ask(&flows[n], at);
			write_client(&flows[n]);
		}
	if (at >= next_sample) {
		sample(at, true);
		next_sample += SECOND / 10;
	}
	if (ping_every && at >= next_ping) {
		send_ping(at);
		next_ping += ping_every;
	}
	u64 next = next_sample < seconds ? next_sample : seconds;
	if (!warm && warmup < next)
		next = warmup;
	if (started < flow_count && flows[started].start < next)
		next = flows[started].start;
	if (ping_every && next_ping < next)
		next = next_ping;
	for (long n = 0; n < started; n++)
		if (flows[n].next < next)
			next = flows[n].next;
	return next;
}

static void arm(u64 next)
{
	static u64 armed = UINT64_MAX;
	u64 at = begin + next;
	if (next == armed)
		return;
	armed = next;
	struct itimerspec when = {.it_value = {(time_t)(at / SECOND), (long)(at % SECOND)}};
	if (timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &when, NULL))
		fail("timerfd_settime");
}

static void handle(struct epoll_event event)
{
	long n = (long)(event.data.u64 & 0xffffffff);
	switch (event.data.u64 >> 32) {
	case PING:
		read_pings();
		break;
	case ACCEPT:
		accept_all((int)n);
		break;
	case CLIENT:
		if (flows[n].client >= 0 && event.events & (EPOLLIN | EPOLLERR | EPOLLHUP))
			read_client(&flows[n], n);
		if (flows[n].client >= 0 && event.events & EPOLLOUT)
			write_client(&flows[n]);
		break;
	case SERVER:
		if (flows[n].server >= 0)
			serve(&flows[n]);
		break;
	default:
		break;
	}
}

static FILE *table(const char *name, const char *header)
{
	FILE *file = fopen(name, "w");
	if (!file)
		fail(name);
	fprintf(file, "%s\n", header);
	return file;
}

static void finish(void)
{
	FILE *whole = table("flows.csv", "flow,workload,congestion,bytes,start_ns,fct_ns,delivered_bytes,packets_sent,"
					 "retransmitted_packets,lost_packets,mean_rtt_ns,marked_packets");
	FILE *measured = table("measured.csv", "flow,workload,congestion,from_ns,to_ns,bps,packets_sent,"
					       "retransmitted_packets,lost_packets,marked_packets");
	FILE *waits = table("departures.csv", "workload,up_to,departures");
	FILE *hashes = table("hash", "trace");
	char text[32];
	for (long n = 0; n < started; n++) {
		struct flow *f = &flows[n];
		const struct workload *w = &workloads[f->workload];
		struct counters *a = &f->whole, *b = &f->at_warmup;
		snprintf(text, sizeof text, "%lu", f->fct);
		fprintf(whole, "%ld,%d,%s,%lu,%lu,%s,%lu,%lu,%lu,%lu,%.0f,%lu\n", n, f->workload, w->control,
			w->kind == POISSON ? w->bytes : 0, f->start, f->fct ? text : "", a->delivered, a->sent, a->retransmitted,
			a->lost, f->rtt_n ? (double)f->rtt_sum / (double)f->rtt_n : 0, a->marked);
		if (w->kind == BULK)
			fprintf(measured, "%ld,%d,%s,%lu,%lu,%.0f,%lu,%lu,%lu,%lu\n", n, f->workload, w->control, warmup, seconds,
				(double)(a->delivered - b->delivered) * 8e9 / (double)(seconds - warmup), a->sent - b->sent,
				a->retransmitted - b->retransmitted, a->lost - b->lost, a->marked - b->marked);
	}
	for (int w = 0; w < workload_count; w++)
		for (int n = 0; n < BINS; n++)
			if (bins[w][n])
				fprintf(waits, "%d,%lu,%lu\n", w, upper_edge(n), bins[w][n]);
	fprintf(hashes, "%016lx\n", hash);
	if (fclose(whole) || fclose(measured) || fclose(waits) || fclose(hashes) || fclose(windows) || fclose(deliveries) ||
	    fclose(operations) || fclose(pings))
		fail("tables");
	if (strays)
		complain("packets left the queue that had not been seen before it", "the observation is incomplete");
}

static void prepare(void)
{
	const char *names[3] = {"/run/netns/A", "/run/netns/R", "/run/netns/B"};
	struct rlimit descriptors = {.rlim_cur = 1 << 18, .rlim_max = 1 << 18};
	if (setrlimit(RLIMIT_NOFILE, &descriptors))
		fail("setrlimit");
	for (int n = 0; n < 3; n++)
		if ((namespaces[n] = open(names[n], O_RDONLY)) < 0)
			fail(names[n]);
	windows = table("windows.csv", "time_ns,flow,cwnd_packets,srtt_ns,unacked_packets");
	deliveries = table("deliveries.csv", "time_ns,flow,delivered_bytes");
	operations = table("operations.csv", "flow,requested_ns,bytes,completed_ns");
	pings = table("pings.csv", "time_ns,rtt_ns");
	poll_fd = epoll_create1(0);
	timer_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
	if (poll_fd < 0 || timer_fd < 0)
		fail("epoll or timerfd");
	watch(timer_fd, EPOLLIN, tag(TIMER, 0));
	enter('R');
	observer(&before_queue, "r0", false);
	observer(&after_queue, "r1", true);
	for (int n = 0; n < workload_count; n++)
		listen_for(n);
	enter('A');
	if (ping_every) {
		ping_fd = socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_ICMP);
		if (ping_fd < 0)
			fail("ping");
		watch(ping_fd, EPOLLIN, tag(PING, 0));
	}
	begin = now();
}

static void run(void)
{
	read_description();
	make_flows();
	prepare();
	for (u64 at = 0; at < seconds; at = now()) {
		struct epoll_event events[64];
		arm(due(at));
		int count = epoll_wait(poll_fd, events, 64, -1);
		if (count < 0 && errno != EINTR)
			fail("epoll_wait");
		u64 expirations;
		if (read(timer_fd, &expirations, sizeof expirations) < 0 && errno != EAGAIN)
			fail("timerfd");
		for (int n = 0; n < count; n++)
			handle(events[n]);
	}
	sample(seconds, true);
	finish();
}

/* ---- DualPI2 ---- */

static size_t attribute(char *message, size_t at, uint16_t type, const void *data, size_t size)
{
	struct rtattr *header = (struct rtattr *)(message + at);
	header->rta_type = type;
	header->rta_len = (uint16_t)RTA_LENGTH(size);
	memcpy(RTA_DATA(header), data, size);
	return at + RTA_SPACE(size);
}

static void dualpi2(const char *device)
{
	enum { ECN_MASK = 14, ANY_ECT = 3 }; /* TCA_DUALPI2_ECN_MASK, TC_DUALPI2_ECN_MASK_ANY_ECT of Linux 6.17 */
	char message[256] = {0}, options[32] = {0};
	struct nlmsghdr *header = (struct nlmsghdr *)message;
	struct tcmsg *qdisc = NLMSG_DATA(header);
	uint8_t any = ANY_ECT;
	size_t size = attribute(options, 0, ECN_MASK, &any, sizeof any), end = NLMSG_SPACE(sizeof *qdisc);
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	*qdisc = (struct tcmsg){.tcm_family = AF_UNSPEC, .tcm_ifindex = (int)if_nametoindex(device), .tcm_parent = 0x10001, .tcm_handle = 0x20000};
	end = attribute(message, end, TCA_KIND, "dualpi2", sizeof "dualpi2");
	end = attribute(message, end, TCA_OPTIONS | NLA_F_NESTED, options, size);
	*header = (struct nlmsghdr){.nlmsg_len = (uint32_t)end, .nlmsg_type = RTM_NEWQDISC, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL};
	if (fd < 0 || send(fd, message, end, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0)
		fail("dualpi2");
	errno = -answer.error.error;
	if (errno)
		fail("dualpi2, which Linux has from 6.17 on");
}

int main(int count, char **words)
{
	if (count == 2 && !strcmp(words[1], "off"))
		reboot(RB_POWER_OFF);
	else if (count == 3 && !strcmp(words[1], "dualpi2"))
		dualpi2(words[2]);
	else if (count == 2 && !strcmp(words[1], "run"))
		run();
	else
		complain("usage", "traffic run|dualpi2 DEVICE|off");
	return 0;
}
