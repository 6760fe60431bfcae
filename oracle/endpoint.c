/*
 * A program for kernels that are hosts of a simulated network (floodway emulate): a few kinds of traffic, without anything
 * that the machine would have to have.
 *
 *   endpoint ping HOST [COUNT [MILLISECONDS [BYTES]]]   echo requests; prints each round-trip time in nanoseconds
 *   endpoint serve [PORT [CONTROL]]                     takes connections and what they bring, without end
 *   endpoint send HOST SECONDS [CONTROL [FLOWS [PORT]]] sends as much as possible; prints what came of it
 *   endpoint http [PORT [CONTROL]]                      an HTTP server whose object /N has N bytes; the port is 80
 *   endpoint page HOST LEVELS [NAME=VALUE ...]          loads web pages from it; prints each page load time
 *   endpoint video HOST TIME [NAME=VALUE ...]           plays adaptive video from it; prints segments, stalls and bitrates
 *   endpoint flows [PORT[:CONTROL] ...]                 sends when it is asked to, and takes what comes to these ports
 *   endpoint until NANOSECONDS                          waits for a time of day
 *   endpoint idle                                       waits without end
 *   endpoint off                                        switches the kernel off
 *
 * CONTROL is a congestion control of TCP. BYTES are those of an echo request beside its IP header of 20: 64 are a frame
 * of 98 bytes. The port is 5001. LEVELS are sizes of objects, like 20KB/30KB,5KB: a document that refers to two objects.
 * endpoint-http.c has the rest of pages and video.
 */
#include "endpoint.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 1000, MOST_FILES = 4096 };
/* Where the simulation asks for flows, and its address, 10.255.255.254 (crates/emulate/src/control.rs). */
enum { ORDERS = 7000, SIMULATION = 0x0afffffe };
char chunk[CHUNK];

void fail(const char *what)
{
	fprintf(stderr, "endpoint: %s: %s\n", what, strerror(errno));
	exit(1);
}

int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

void sleep_until(clockid_t clock, int64_t at)
{
	struct timespec t = {.tv_sec = at / SECOND, .tv_nsec = at % SECOND};
	while (clock_nanosleep(clock, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

long number(const char *text, long least, long most)
{
	char *end;
	long value = strtol(text, &end, 10);
	if (end == text || *end || value < least || value > most) {
		fprintf(stderr, "endpoint: `%s` is no number from %ld to %ld\n", text, least, most);
		exit(2);
	}
	return value;
}

/* The address of a host, by the table of hosts. */
struct sockaddr_in address(const char *name, int port)
{
	struct sockaddr_in found = {.sin_family = AF_INET, .sin_port = htons(port)};
	char line[256], *rest, *ip, *word;
	FILE *table = fopen("/etc/hosts", "r");
	if (inet_aton(name, &found.sin_addr))
		return found;
	while (table && fgets(line, sizeof line, table)) {
		ip = strtok_r(line, " \t\n", &rest);
		while (ip && (word = strtok_r(NULL, " \t\n", &rest)))
			if (!strcmp(word, name) && inet_aton(ip, &found.sin_addr))
				return found;
	}
	fprintf(stderr, "endpoint: there is no host `%s`: hosts that are kernels are called host-0, host-1, ...\n", name);
	exit(2);
}

void set_control(int fd, const char *control)
{
	if (control && *control && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, strlen(control)))
		fail(control);
}

static void ping(const char *name, long count, long milliseconds, long bytes)
{
	struct sockaddr_in to = address(name, 0);
	static unsigned char packet[CHUNK], answer[CHUNK];
	struct icmphdr *header = (struct icmphdr *)packet;
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	long answers = 0;
	if (fd < 0)
		fail("socket");
	int64_t next = now(CLOCK_MONOTONIC);
	for (long sequence = 0; sequence < count; sequence++, next += milliseconds * 1000000) {
		sleep_until(CLOCK_MONOTONIC, next);
		*header = (struct icmphdr){.type = ICMP_ECHO, .un.echo = {htons(getpid()), htons(sequence)}};
		uint32_t sum = 0;
		for (long at = 0; at < bytes; at += 2)
			sum += packet[at] << 8 | (at + 1 < bytes ? packet[at + 1] : 0);
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		header->checksum = htons(~sum);
		int64_t sent = now(CLOCK_MONOTONIC);
		if (sendto(fd, packet, bytes, 0, (struct sockaddr *)&to, sizeof to) != bytes)
			fail("sendto");
		/* Until the next one is due, and of the last one a second. */
		int64_t limit = sequence + 1 < count ? milliseconds * 1000000 : SECOND;
		for (;;) {
			struct pollfd p = {fd, POLLIN, 0};
			int64_t left = sent + limit - now(CLOCK_MONOTONIC);
			struct timespec wait = {left / SECOND, left % SECOND};
			if (left <= 0 || ppoll(&p, 1, &wait, NULL) <= 0) {
				printf("ping %ld lost\n", sequence);
				break;
			}
			ssize_t got = recv(fd, answer, sizeof answer, 0);
			int64_t at = now(CLOCK_MONOTONIC);
			struct icmphdr *reply = (struct icmphdr *)(answer + (answer[0] & 15) * 4);
			if (got < 28 || reply->type != ICMP_ECHOREPLY || reply->un.echo.id != htons(getpid()) ||
			    reply->un.echo.sequence != htons(sequence))
				continue;
			printf("ping %ld %ld ns\n", sequence, (long)(at - sent));
			answers++;
			break;
		}
		fflush(stdout);
	}
	if (!answers) {
		fprintf(stderr, "endpoint: %s has not answered\n", name);
		exit(1);
	}
}

/* What a file descriptor is. */
enum what { NOTHING, LISTENS, TAKES, SENDS, ASKED };
static struct {
	enum what what;
	int port;                /* SENDS: that it comes from */
	int64_t bytes, begin;    /* SENDS */
} is[MOST_FILES];
static int all = -1;

static void watch(int fd, enum what what, uint32_t events)
{
	if (fd >= MOST_FILES) {
		errno = EMFILE;
		fail("connections");
	}
	memset(&is[fd], 0, sizeof is[fd]);
	is[fd].what = what;
	if (all < 0)
		all = epoll_create1(0);
	struct epoll_event event = {.events = events, .data.fd = fd};
	if (epoll_ctl(all, EPOLL_CTL_ADD, fd, &event))
		fail("epoll");
}

static void forget(int fd)
{
	is[fd].what = NOTHING;
	close(fd);
}

static int bound(int type, int port)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
	int on = 1, fd = socket(AF_INET, type | SOCK_NONBLOCK, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&here, sizeof here))
		fail("bind");
	return fd;
}

static void take_at(int port, const char *control)
{
	int fd = bound(SOCK_STREAM, port);
	set_control(fd, control);
	if (listen(fd, MOST))
		fail("listen");
	watch(fd, LISTENS, EPOLLIN);
}

static void report(int fd, int flow, int64_t bytes, int64_t from)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof info;
	char control[32] = "";
	socklen_t room = sizeof control;
	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length);
	getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, &room);
	double seconds = (now(CLOCK_MONOTONIC) - from) / 1e9;
	printf("flow %d %s: %.4f Mb/s acknowledged, %ld bytes written, %u segments sent, %u again, %u marked, srtt %u us, ecn %s\n", flow,
	       control, info.tcpi_bytes_acked * 8 / seconds / 1e6, (long)bytes, info.tcpi_segs_out, info.tcpi_total_retrans,
	       info.tcpi_delivered_ce, info.tcpi_rtt, info.tcpi_options & TCPI_OPT_ECN ? "yes" : "no");
}

/* Says something to the simulation. */
static void say(const char *text)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(ORDERS), .sin_addr.s_addr = htonl(SIMULATION)};
	for (int fd = 0; fd < MOST_FILES; fd++)
		if (is[fd].what == ASKED)
			sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof to);
}

/* What has gone wrong, which ends the run. */
static void complain(const char *what, int port)
{
	char text[200];
	snprintf(text, sizeof text, "the long-lived flow from port %d: %s: %s", port, what, strerror(errno));
	say(text);
}

static void start(int source, const char *ip, int port)
{
	struct linger at_once = {.l_onoff = 1};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	inet_aton(ip, &to.sin_addr);
	int fd = bound(SOCK_STREAM, source);
	/* One that stops has nothing more to send, not even what is in its buffer. */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	if (connect(fd, (struct sockaddr *)&to, sizeof to) && errno != EINPROGRESS) {
		complain("connect", source);
		forget(fd);
		return;
	}
	watch(fd, SENDS, EPOLLOUT);
	is[fd].port = source;
	is[fd].begin = now(CLOCK_MONOTONIC);
}

static void stop(int source)
{
	for (int fd = 0; fd < MOST_FILES; fd++) {
		if (is[fd].what != SENDS || is[fd].port != source)
			continue;
		report(fd, source, is[fd].bytes, is[fd].begin);
		fflush(stdout);
		forget(fd);
		return;
	}
	errno = ENOENT;
	complain("stop", source);
}

static void obey(int fd)
{
	char text[200], ip[32];
	int source, port;
	ssize_t length = recv(fd, text, sizeof text - 1, 0);
	text[length > 0 ? length : 0] = 0;
	if (sscanf(text, "start %d %31s %d", &source, ip, &port) == 3)
		start(source, ip, port);
	else if (sscanf(text, "stop %d", &source) == 1)
		stop(source);
}

static void go_on(int fd)
{
	ssize_t moved;
	switch (is[fd].what) {
	case LISTENS:
		moved = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
		if (moved >= 0)
			watch(moved, TAKES, EPOLLIN);
		break;
	case TAKES:
		moved = recv(fd, chunk, sizeof chunk, 0);
		if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EINTR))
			forget(fd);
		break;
	case SENDS:
		moved = send(fd, chunk, sizeof chunk, MSG_NOSIGNAL);
		is[fd].bytes += moved > 0 ? moved : 0;
		if (moved < 0 && errno != EAGAIN && errno != EINTR) {
			complain("send", is[fd].port);
			forget(fd);
		}
		break;
	case ASKED:
		obey(fd);
		break;
	case NOTHING:
		break;
	}
}

static void work(void)
{
	struct epoll_event event;
	for (;;)
		if (epoll_wait(all, &event, 1, -1) == 1)
			go_on(event.data.fd);
}

static void flows(int count, char **ports)
{
	struct rlimit files = {MOST_FILES, MOST_FILES};
	setrlimit(RLIMIT_NOFILE, &files);
	for (int place = 0; place < count; place++) {
		char *control = strchr(ports[place], ':');
		if (control)
			*control++ = 0;
		take_at(number(ports[place], 1, 65535), control);
	}
	watch(bound(SOCK_DGRAM, ORDERS), ASKED, EPOLLIN);
	say("ready");
	work();
}

static void send_to(const char *name, double seconds, const char *control, int flows, int port)
{
	struct sockaddr_in to = address(name, port);
	static int64_t bytes[MOST];
	static struct pollfd polled[MOST];
	int64_t begin = now(CLOCK_MONOTONIC), end = begin + (int64_t)(seconds * SECOND);
	for (int flow = 0; flow < flows; flow++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		set_control(fd, control);
		if (connect(fd, (struct sockaddr *)&to, sizeof to))
			fail(name);
		polled[flow] = (struct pollfd){fd, POLLOUT, 0};
	}
	for (;;) {
		int64_t left = end - now(CLOCK_MONOTONIC);
		struct timespec wait = {left / SECOND, left % SECOND};
		if (left <= 0 || ppoll(polled, flows, &wait, NULL) <= 0)
			break;
		for (int flow = 0; flow < flows; flow++) {
			if (!polled[flow].revents)
				continue;
			ssize_t sent = send(polled[flow].fd, chunk, sizeof chunk, MSG_DONTWAIT | MSG_NOSIGNAL);
			if (sent < 0 && errno != EAGAIN && errno != EINTR)
				fail("send");
			bytes[flow] += sent > 0 ? sent : 0;
		}
	}
	for (int flow = 0; flow < flows; flow++)
		report(polled[flow].fd, flow, bytes[flow], begin);
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
#define WORD(n, other) (count > (n) ? words[n] : (other))
	if (!strcmp(what, "ping") && count > 2)
		ping(words[2], number(WORD(3, "4"), 1, 60000), number(WORD(4, "1000"), 1, 1000000), number(WORD(5, "64"), 8, 65000));
	else if (!strcmp(what, "serve")) {
		take_at(number(WORD(2, "5001"), 1, 65535), WORD(3, ""));
		work();
	} else if (!strcmp(what, "flows"))
		flows(count - 2, words + 2);
	else if (!strcmp(what, "send") && count > 3)
		send_to(words[2], atof(words[3]), WORD(4, ""), number(WORD(5, "1"), 1, MOST), number(WORD(6, "5001"), 1, 65535));
	else if (!strcmp(what, "http"))
		http(number(WORD(2, "80"), 1, 65535), WORD(3, ""));
	else if (!strcmp(what, "page") && count > 3)
		page(count - 2, words + 2);
	else if (!strcmp(what, "video") && count > 3)
		video(count - 2, words + 2);
	else if (!strcmp(what, "until") && count > 2)
		sleep_until(CLOCK_REALTIME, strtoll(words[2], NULL, 10));
	else if (!strcmp(what, "idle"))
		for (;;)
			pause();
	else if (!strcmp(what, "off"))
		reboot(RB_POWER_OFF);
	else {
		fprintf(stderr, "endpoint: ping HOST | serve | send HOST SECONDS | http | page HOST LEVELS | video HOST TIME | flows |\n"
				"          until NANOSECONDS | idle | off\n");
		return 2;
	}
	return 0;
}
