/*
 * HTTP/1.1 (RFC 9112) of the program `endpoint`: a server, a browser that loads pages, and a player of adaptive video. Both
 * clients do what the workload `web` and the application `video` of simulated hosts do, with parameters of the same names. Times
 * are those of a clock that begins with the kernel, and so with the run.
 */
#include "endpoint.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = 1 << 12, MOST_LEVELS = 64, MOST_OBJECTS = 10000, MOST_CONNECTIONS = 1000, MOST_RUNGS = 64, MOST_SEGMENTS = 100000 };
/* Messages of TLS in a round trip before the first request, as the workload `web` has them. */
enum { CLIENT_HELLO = 517, SERVER_HELLO = 4000 };
static const int64_t LARGEST = 1000000000;

/* ---- Server ---- */

static void send_all(int fd, const char *octets, size_t count, int flags)
{
	while (count) {
		ssize_t sent = send(fd, octets, count, flags | MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		/* Clients may go as they please. */
		if (sent < 0)
			exit(0);
		octets += sent;
		count -= sent;
	}
}

/* Reads a head to its empty line; false at the end of the connection. */
static bool read_head(int fd, char *head)
{
	size_t length = 0;
	while (length < HEAD - 1) {
		ssize_t got = recv(fd, head + length, HEAD - 1 - length, MSG_PEEK);
		if (got <= 0)
			return false;
		head[length + got] = 0;
		char *end = strstr(head, "\r\n\r\n");
		size_t taken = end ? (size_t)(end + 4 - head) - length : (size_t)got;
		if (recv(fd, head + length, taken, 0) < 0)
			return false;
		length += taken;
		head[length] = 0;
		if (end)
			return true;
	}
	return false;
}

/* One connection. */
static void answer(int fd)
{
	static char head[HEAD];
	char reply[200];
	while (read_head(fd, head)) {
		long size = -1;
		int end = 0;
		bool is_get = sscanf(head, "GET /%ld HTTP/1.%*[01]%n", &size, &end) == 1 && end && size >= 0 && size <= LARGEST;
		/* What else is asked for may have a body, which is not read. */
		bool closes = !is_get || strcasestr(head, "\r\nconnection: close") || strstr(head, " HTTP/1.0\r\n");
		int length = snprintf(reply, sizeof reply, "HTTP/1.1 %s\r\nContent-Length: %ld\r\n%s\r\n", is_get ? "200 OK" : "404 Not Found",
				      is_get ? size : 0, closes ? "Connection: close\r\n" : "");
		send_all(fd, reply, length, is_get && size ? MSG_MORE : 0);
		for (long left = is_get ? size : 0; left > 0; left -= CHUNK)
			send_all(fd, chunk, left < CHUNK ? left : CHUNK, 0);
		if (closes)
			break;
	}
	/* The rest of what is not read: without it the end of the connection would be a reset. */
	shutdown(fd, SHUT_WR);
	while (recv(fd, chunk, CHUNK, 0) > 0)
		;
}

/* A process for each connection. */
void http(int port, const char *control)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
	int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	set_control(fd, control);
	if (bind(fd, (struct sockaddr *)&here, sizeof here) || listen(fd, MOST_CONNECTIONS))
		fail("listen");
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int connection = accept(fd, NULL, NULL);
		if (connection < 0) {
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			fail("accept");
		}
		pid_t child = fork();
		if (child < 0)
			fail("fork");
		if (!child) {
			close(fd);
			answer(connection);
			exit(0);
		}
		close(connection);
	}
}

/* ---- Parameters ---- */

struct unit {
	const char *name;
	double factor;
};
static const struct unit TIMES[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit SIZES[] = {{"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {NULL, 0}};
static const struct unit RATES[] = {{"bps", 1}, {"Kbps", 1e3}, {"Mbps", 1e6}, {NULL, 0}};

/* A number with its unit, up to the end of the text or a character of `until`. */
static int64_t quantity(const char **text, const struct unit *units, const char *until, const char *like)
{
	char *end;
	const char *begin = *text;
	double value = isdigit((unsigned char)*begin) ? strtod(begin, &end) : -1;
	size_t length = value < 0 ? 0 : strcspn(end, until);
	for (; value >= 0 && units->name; units++) {
		if (strlen(units->name) != length || strncmp(units->name, end, length) || value * units->factor > 1e18)
			continue;
		*text = end + length;
		return llround(value * units->factor);
	}
	fprintf(stderr, "endpoint: `%.*s` is no %s\n", (int)strcspn(begin, until), begin, like);
	exit(2);
}

static int64_t time_of(const char *text)
{
	return quantity(&text, TIMES, "", "time: write it like 500ms or 2s");
}

static int64_t size_of(const char **text, const char *until)
{
	int64_t size = quantity(text, SIZES, until, "size: write it like 350B, 60KB or 2MB");
	if (size < 1 || size > LARGEST) {
		fprintf(stderr, "endpoint: a size of %lld bytes is not possible: sizes have 1B to 1000MB\n", (long long)size);
		exit(2);
	}
	return size;
}

static double fraction(const char *text)
{
	char *end;
	double value = strtod(text, &end);
	if (end == text || *end || !(value > 0 && value <= 1)) {
		fprintf(stderr, "endpoint: `%s` is no fraction above 0 and at most 1\n", text);
		exit(2);
	}
	return value;
}

/* The value, if a word is `name=value`. */
static const char *given(const char *word, const char *name)
{
	size_t length = strlen(name);
	return strncmp(word, name, length) || word[length] != '=' ? NULL : word + length + 1;
}

static void unknown(const char *word, const char *known)
{
	fprintf(stderr, "endpoint: `%s` is no parameter; there are %s, each as NAME=VALUE\n", word, known);
	exit(2);
}

/* Timers of a program may be 50 us late by default. */
static void be_exact(void)
{
	prctl(PR_SET_TIMERSLACK, 1);
}

/* What clients share. */
static struct {
	const char *name, *control;
	struct sockaddr_in to;
	int port;
	int64_t request;
} server = {.control = "", .port = 80, .request = 350};

static bool is_of_server(const char *word)
{
	const char *value;
	if ((value = given(word, "port")))
		server.port = number(value, 1, 65535);
	else if ((value = given(word, "control")))
		server.control = value;
	else if ((value = given(word, "request")))
		server.request = size_of(&value, "");
	else
		return false;
	return true;
}

/* ---- Connections of clients ---- */

struct connection {
	int fd;
	int hellos;	     /* round trips of TLS that are left */
	bool is_established, is_busy;
	char head[HEAD];
	size_t head_length;
	int64_t left;	     /* of the body; -1 before its length is known */
};

static void refuse(const char *why)
{
	fprintf(stderr, "endpoint: %s: %s\n", server.name, why);
	exit(1);
}

static void open_one(struct connection *c, int hellos)
{
	*c = (struct connection){.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), .hellos = hellos};
	if (c->fd < 0)
		fail("socket");
	set_control(c->fd, server.control);
	if (connect(c->fd, (struct sockaddr *)&server.to, sizeof server.to) && errno != EINPROGRESS)
		refuse(strerror(errno));
}

/* Requests an object, with a head of so many bytes. */
static void request(struct connection *c, int64_t object, int64_t bytes)
{
	static char text[CHUNK];
	static const char FILL[] = "X-Fill: ";
	int length = snprintf(text, sizeof text, "GET /%lld HTTP/1.1\r\nHost: %s\r\n", (long long)object, server.name);
	int64_t fill = bytes - length - (int)sizeof FILL + 1 - 4;
	if (fill >= 0 && bytes < CHUNK) {
		length += snprintf(text + length, sizeof text - length, "%s", FILL);
		memset(text + length, 'x', fill);
		length += fill;
		memcpy(text + length, "\r\n", 2);
		length += 2;
	}
	memcpy(text + length, "\r\n", 2);
	length += 2;
	if (send(c->fd, text, length, MSG_NOSIGNAL) != length)
		refuse("the connection does not take a request");
	c->is_busy = true;
	c->head_length = 0;
	c->left = -1;
}

/* Takes what has come; whether the answer is complete. */
static bool take(struct connection *c)
{
	ssize_t got = recv(c->fd, chunk, CHUNK, 0);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got < 0)
		refuse(strerror(errno));
	if (!got)
		refuse("the server has closed the connection");
	if (c->left < 0) {
		size_t room = HEAD - 1 - c->head_length, before = c->head_length;
		size_t taken = (size_t)got < room ? (size_t)got : room;
		memcpy(c->head + before, chunk, taken);
		c->head[before + taken] = 0;
		c->head_length += taken;
		char *end = strstr(c->head, "\r\n\r\n");
		char *length = end ? strcasestr(c->head, "\r\nContent-Length:") : NULL;
		if (!end && c->head_length < HEAD - 1)
			return false;
		if (!length || length > end || strncmp(c->head, "HTTP/1.1 200 ", 13))
			refuse("the answer is not that of `endpoint http`, 200 with the length of the object");
		c->left = strtoll(length + 17, NULL, 10);
		got -= end + 4 - c->head - before;
	}
	c->left -= got;
	if (c->left < 0)
		refuse("the answer is longer than it says");
	c->is_busy = c->left > 0;
	return !c->is_busy;
}

/* Goes on with a connection that is ready; whether an answer is complete, those of TLS apart. */
static bool go_on(struct connection *c)
{
	if (!c->is_established) {
		int error = 0;
		socklen_t length = sizeof error;
		getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &length);
		if (error)
			refuse(strerror(error));
		c->is_established = true;
	} else if (!take(c))
		return false;
	else if (!c->hellos)
		return true;
	else
		c->hellos--;
	if (c->hellos)
		request(c, SERVER_HELLO, CLIENT_HELLO);
	return false;
}

static short wanted(const struct connection *c)
{
	return c->is_established ? POLLIN : POLLOUT;
}

static bool is_free(const struct connection *c)
{
	return c->is_established && !c->is_busy && !c->hellos;
}

/* ---- Pages ---- */

static int64_t objects[MOST_OBJECTS];
static int level_ends[MOST_LEVELS], levels;

static void read_levels(const char *text)
{
	int count = 0;
	for (;;) {
		if (count == MOST_OBJECTS || levels == MOST_LEVELS) {
			fprintf(stderr, "endpoint: a page has at most %d objects in %d levels\n", MOST_OBJECTS, MOST_LEVELS);
			exit(2);
		}
		objects[count++] = size_of(&text, ",/");
		if (*text != ',')
			level_ends[levels++] = count;
		if (!*text++)
			return;
	}
}

void page(int count, char **words)
{
	static struct connection open[MOST_CONNECTIONS];
	static struct pollfd polled[MOST_CONNECTIONS];
	int64_t parsing = 130000000, think = 30 * (int64_t)SECOND;
	int connections = 6, pages = 1, tls = 1;
	be_exact();
	server.name = words[0];
	read_levels(words[1]);
	for (int n = 2; n < count; n++) {
		const char *value;
		if ((value = given(words[n], "connections")))
			connections = number(value, 1, MOST_CONNECTIONS);
		else if ((value = given(words[n], "pages")))
			pages = number(value, 1, 60000);
		else if ((value = given(words[n], "tls_round_trips")))
			tls = number(value, 0, 10);
		else if ((value = given(words[n], "parsing")))
			parsing = time_of(value);
		else if ((value = given(words[n], "think")))
			think = time_of(value);
		else if (!is_of_server(words[n]))
			unknown(words[n], "connections, pages, tls_round_trips, parsing, think, request, port and control");
	}
	server.to = address(server.name, server.port);
	for (int number = 0; number < pages; number++) {
		int64_t begin = now(CLOCK_MONOTONIC), bytes = 0;
		int opened = 0, next = 0, done = 0;
		for (int level = 0; level < levels; level++) {
			if (level)
				sleep_until(CLOCK_MONOTONIC, now(CLOCK_MONOTONIC) + parsing);
			int end = level_ends[level], of_level = end - next;
			while (opened < connections && opened < of_level)
				open_one(&open[opened++], tls);
			while (done < end) {
				/* The next object goes to the first connection that is free, as browsers have it. */
				for (int n = 0; n < opened; n++) {
					if (next < end && is_free(&open[n])) {
						bytes += objects[next];
						request(&open[n], objects[next++], server.request);
					}
					polled[n] = (struct pollfd){open[n].fd, wanted(&open[n]), 0};
				}
				if (poll(polled, opened, -1) < 0 && errno != EINTR)
					fail("poll");
				for (int n = 0; n < opened; n++)
					done += polled[n].revents && go_on(&open[n]);
			}
		}
		int64_t load = now(CLOCK_MONOTONIC) - begin;
		for (int n = 0; n < opened; n++)
			close(open[n].fd);
		printf("page %d from %lld ns took %lld ns: %d objects, %lld bytes, %d connections\n", number, (long long)begin, (long long)load,
		       done, (long long)bytes, opened);
		fflush(stdout);
		if (number + 1 < pages)
			sleep_until(CLOCK_MONOTONIC, now(CLOCK_MONOTONIC) + think);
	}
}

/* ---- Adaptive video ---- */

struct segment {
	int64_t bitrate, bytes, requested, arrived;
};
static struct segment segments[MOST_SEGMENTS];
static int64_t ladder[MOST_RUNGS];
static int rungs;
static struct {
	int64_t segment, buffer, startup, rebuffer, reservoir, cushion;
	double safety;
	int samples;
	bool by_buffer;
} player = {
    .segment = 4000000000, .buffer = 240000000000, .startup = 4000000000, .rebuffer = 4000000000,
    .reservoir = 90000000000, .cushion = 126000000000, .safety = 0.85, .samples = 20,
};

static void read_ladder(const char *text)
{
	rungs = 0;
	do {
		int64_t rate = rungs < MOST_RUNGS ? quantity(&text, RATES, ",", "rate: write it like 750Kbps or 3Mbps") : 0;
		if (!rate || (rungs && rate <= ladder[rungs - 1])) {
			fprintf(stderr, "endpoint: a ladder has bitrates from the lowest to the highest, at most %d\n", MOST_RUNGS);
			exit(2);
		}
		ladder[rungs++] = rate;
	} while (*text++);
}

/* The bitrate of the segment after the first `count`, as crates/sim/src/host/application/video/abr has it: by throughput... */
static int64_t by_throughput(int count)
{
	double inverse = 0;
	int first = count > player.samples ? count - player.samples : 0, used = 0;
	for (int n = count - 1; n >= first; n--) {
		double seconds = (segments[n].arrived - segments[n].requested) / 1e9;
		if (seconds <= 0)
			continue;
		inverse += 1 / (segments[n].bytes * 8.0 / seconds);
		used++;
	}
	double limit = used ? player.safety * used / inverse : 0;
	int rung = rungs - 1;
	while (rung > 0 && ladder[rung] > limit)
		rung--;
	return ladder[rung];
}

/* ... and by the buffer (BBA-0). */
static int64_t by_buffer(int count, int64_t content)
{
	int64_t least = ladder[0], most = ladder[rungs - 1];
	if (content <= player.reservoir)
		return least;
	if (content >= player.reservoir + player.cushion)
		return most;
	double map = least + (double)(content - player.reservoir) / player.cushion * (most - least);
	int64_t previous = count ? segments[count - 1].bitrate : least, up = most, down = least;
	for (int rung = rungs - 1; rung >= 0; rung--)
		up = ladder[rung] > previous ? ladder[rung] : up;
	for (int rung = 0; rung < rungs; rung++)
		down = ladder[rung] < previous ? ladder[rung] : down;
	int rung = 0;
	if (map >= up) {
		for (rung = rungs - 1; rung > 0 && ladder[rung] >= map; rung--)
			;
		return ladder[rung];
	}
	if (map > down)
		return previous;
	while (rung < rungs - 1 && ladder[rung] <= map)
		rung++;
	return ladder[rung];
}

/* What is played: content of the buffer at a time, and the time without playback after it had started. */
static int64_t played_until, content;
static bool is_playing, has_started;

static int64_t play(int64_t until, bool *ran_dry)
{
	int64_t time = until - played_until;
	played_until = until;
	*ran_dry = false;
	if (!is_playing)
		return has_started ? time : 0;
	int64_t stalled = time > content ? time - content : 0;
	content -= time - stalled;
	*ran_dry = stalled > 0;
	is_playing = !stalled;
	return stalled;
}

void video(int count, char **words)
{
	struct connection c;
	int stalls = 0, switches = 0, arrived = 0;
	int64_t stalled = 0, startup = -1, seconds = time_of(words[1]);
	double rates = 0;
	bool ran_dry;
	be_exact();
	server.name = words[0];
	read_ladder("235Kbps,375Kbps,560Kbps,750Kbps,1050Kbps,1750Kbps,2350Kbps,3000Kbps,4300Kbps,5800Kbps");
	for (int n = 2; n < count; n++) {
		const char *value;
		if ((value = given(words[n], "segment")))
			player.segment = time_of(value);
		else if ((value = given(words[n], "buffer")))
			player.buffer = time_of(value);
		else if ((value = given(words[n], "startup")))
			player.startup = time_of(value);
		else if ((value = given(words[n], "rebuffer")))
			player.rebuffer = time_of(value);
		else if ((value = given(words[n], "ladder")))
			read_ladder(value);
		else if ((value = given(words[n], "abr")) && (!strcmp(value, "throughput") || !strcmp(value, "buffer")))
			player.by_buffer = *value == 'b';
		else if ((value = given(words[n], "samples")))
			player.samples = number(value, 1, MOST_SEGMENTS);
		else if ((value = given(words[n], "safety")))
			player.safety = fraction(value);
		else if ((value = given(words[n], "reservoir")))
			player.reservoir = time_of(value);
		else if ((value = given(words[n], "cushion")))
			player.cushion = time_of(value);
		else if (!is_of_server(words[n]))
			unknown(words[n], "segment, buffer, startup, rebuffer, ladder, abr (throughput or buffer), samples, safety, reservoir, "
					  "cushion, request, port and control");
	}
	int64_t whole = player.segment < 100000000 ? 0 : player.buffer - player.buffer % player.segment;
	if (!whole || player.startup > whole || player.rebuffer > whole || !player.cushion) {
		fprintf(stderr, "endpoint: a segment has at least 100ms, the cushion is above 0, and the buffer has room for whole segments of "
				"at least `startup` and `rebuffer`\n");
		exit(2);
	}
	server.to = address(server.name, server.port);
	int64_t begin = now(CLOCK_MONOTONIC), stop = begin + seconds;
	played_until = begin;
	open_one(&c, 0);
	for (int number = 0; number < MOST_SEGMENTS;) {
		int64_t at = now(CLOCK_MONOTONIC);
		if (is_free(&c)) {
			int64_t over = content + player.segment - player.buffer;
			if (over > 0 && at + over < stop)
				sleep_until(CLOCK_MONOTONIC, at + over);
			if ((over > 0 && at + over >= stop) || (at = now(CLOCK_MONOTONIC)) >= stop)
				break;
			stalled += play(at, &ran_dry);
			stalls += ran_dry;
			int64_t rate = player.by_buffer ? by_buffer(number, content) : by_throughput(number);
			int64_t bytes = (int64_t)((__int128)rate * player.segment / 8 / SECOND);
			segments[number] = (struct segment){rate, bytes ? bytes : 1, at, 0};
			switches += number && segments[number - 1].bitrate != rate;
			request(&c, segments[number].bytes, server.request);
		}
		struct pollfd p = {c.fd, wanted(&c), 0};
		struct timespec wait = {(stop - at) / SECOND, (stop - at) % SECOND};
		if (at >= stop || !ppoll(&p, 1, &wait, NULL))
			break;
		if (!go_on(&c))
			continue;
		struct segment *s = &segments[number];
		s->arrived = now(CLOCK_MONOTONIC);
		int64_t without = play(s->arrived, &ran_dry);
		stalled += without;
		stalls += ran_dry;
		content += player.segment;
		is_playing |= content >= (has_started ? player.rebuffer : player.startup);
		if (is_playing && !has_started)
			startup = s->arrived - begin;
		has_started |= is_playing;
		rates += s->bitrate;
		arrived++;
		printf("segment %d %lld b/s %lld bytes requested %lld ns arrived %lld ns buffer %lld ns stalled %lld ns\n", number++,
		       (long long)s->bitrate, (long long)s->bytes, (long long)s->requested, (long long)s->arrived, (long long)content,
		       (long long)without);
		fflush(stdout);
	}
	/* One that has not arrived may have left the player without content. */
	if (c.is_busy) {
		stalled += play(stop, &ran_dry);
		stalls += ran_dry;
	}
	if (!arrived)
		refuse("no segment has arrived");
	printf("video %d segments, startup %.3f ms, %d stalls, %.3f ms stalled, mean bitrate %.1f kb/s, %d switches\n", arrived,
	       startup < 0 ? NAN : startup / 1e6, stalls, stalled / 1e6, rates / arrived / 1e3, switches);
}
