//! A small HTTP server for one page: it listens on this machine only, and whatever a client sends or leaves out costs one
//! thread for a few seconds.
//!
//! A connection has one request. Heads are parsed by `httparse`. Requests that a page of another origin could cause are
//! refused: the host has to be this one by its number or as `localhost` (against DNS rebinding), and what changes something
//! has to come as JSON from this origin (against requests across sites).

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The most bytes of a head, and of a body.
const MOST: usize = 16_384;

/// How long a client may take to send a request, and to take in each part of the response.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most connections at a time; further ones are closed.
const CONNECTIONS: usize = 64;

/// A request.
#[derive(Debug, Default)]
pub struct Request {
    /// Whether it is a POST; otherwise it is a GET.
    pub is_post: bool,
    /// The path, without what follows a question mark.
    pub path: String,
    /// What follows the question mark.
    pub query: String,
    /// The body.
    pub body: Vec<u8>,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// A plain text.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: text.into().into_bytes() }
    }
}

/// A server that listens, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens on a port of this machine; port 0 is any that is free.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers requests from now on, on threads of their own, as long as the process lives.
    pub fn serve(self, answer: impl Fn(&Request) -> Response + Send + Sync + 'static) {
        let (answer, open) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
        let port = self.address.port();
        thread::spawn(move || {
            for stream in self.listener.incoming() {
                let Ok(stream) = stream else {
                    // Such as too many open files: others may close some meanwhile.
                    thread::sleep(Duration::from_millis(20));
                    continue;
                };
                if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
                    open.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let (answer, counted) = (Arc::clone(&answer), Arc::clone(&open));
                let handle = move || {
                    // A client that has gone away is none of our business.
                    let _ = converse(stream, port, &*answer);
                    counted.fetch_sub(1, Ordering::Relaxed);
                };
                if thread::Builder::new().spawn(handle).is_err() {
                    open.fetch_sub(1, Ordering::Relaxed);
                }
            }
        });
    }
}

/// Reads a request and sends its response.
fn converse(
    mut stream: TcpStream,
    port: u16,
    answer: &(impl Fn(&Request) -> Response + ?Sized),
) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let response = match read(&mut stream, port)? {
        Ok(request) => answer(&request),
        Err(refusal) => refusal,
    };
    let Response { status, kind, body } = response;
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        _ => "Error",
    };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
         Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
         connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)?;
    stream.flush()
}

/// Reads a request; the inner error is the response to one that is refused.
fn read(stream: &mut TcpStream, port: u16) -> io::Result<Result<Request, Response>> {
    let begun = Instant::now();
    let mut bytes = Vec::new();
    let mut more = |bytes: &mut Vec<u8>| -> io::Result<bool> {
        let left = PATIENCE.checked_sub(begun.elapsed()).filter(|left| !left.is_zero());
        let left = left.ok_or(io::ErrorKind::TimedOut)?;
        stream.set_read_timeout(Some(left))?;
        let mut part = [0; 4_096];
        let count = stream.read(&mut part)?;
        bytes.extend_from_slice(&part[..count]);
        Ok(count > 0)
    };
    let refused = |status, text: &str| Ok(Err(Response::text(status, text)));
    loop {
        match parse(&bytes, port) {
            Ok(Some((mut request, head, length))) => {
                while bytes.len() < head + length {
                    if !more(&mut bytes)? {
                        return refused(400, "the body ends before its Content-Length");
                    }
                }
                request.body = bytes[head..head + length].to_vec();
                return Ok(Ok(request));
            }
            Ok(None) if bytes.len() >= MOST => return refused(413, "the head is too long"),
            Ok(None) => {
                if !more(&mut bytes)? {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(refusal) => return Ok(Err(refusal)),
        }
    }
}

/// The request whose head these bytes begin with, the length of the head, and that of the body; `None` if more is needed.
fn parse(bytes: &[u8], port: u16) -> Result<Option<(Request, usize, usize)>, Response> {
    let refused = |status, text: &str| Err(Response::text(status, text));
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Request::new(&mut headers);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return refused(400, &format!("this is no request of HTTP: {error}")),
    };
    let is_post = match head.method {
        Some("GET") => false,
        Some("POST") => true,
        _ => return refused(405, "only GET and POST are possible"),
    };
    let header = |name: &str| {
        let mut found = head.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        let value = found.next().map(|header| String::from_utf8_lossy(header.value).into_owned());
        // Of two the meaning would be uncertain.
        if found.next().is_some() { None } else { value }
    };
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if !header("host").is_some_and(|host| hosts.contains(&host)) {
        return refused(403, "the host must be 127.0.0.1 or localhost, with the port");
    }
    if is_post {
        let is_ours = |origin: String| hosts.iter().any(|host| origin == format!("http://{host}"));
        if !header("origin").is_none_or(is_ours) {
            return refused(403, "the request comes from a page of another origin");
        }
        let is_json =
            |kind: String| kind.split(';').next().map(str::trim) == Some("application/json");
        if !header("content-type").is_some_and(is_json) {
            return refused(403, "the Content-Type must be application/json");
        }
    }
    if head.headers.iter().any(|header| header.name.eq_ignore_ascii_case("transfer-encoding")) {
        return refused(400, "a body must come with a Content-Length");
    }
    let body = match header("content-length").map(|length| length.parse::<usize>()) {
        None => 0,
        Some(Ok(length)) if length <= MOST => length,
        Some(Ok(_)) => return refused(413, "the body is too long"),
        Some(Err(_)) => return refused(400, "the Content-Length is no number"),
    };
    let target = head.path.unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    Ok(Some((Request { is_post, path, query, body: Vec::new() }, length, body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> Result<Option<(bool, String, usize)>, u16> {
        let parsed = parse(text.as_bytes(), 80).map_err(|refusal| refusal.status)?;
        Ok(parsed.map(|(request, _, length)| (request.is_post, request.path, length)))
    }

    #[test]
    fn requests_of_this_origin_are_taken() {
        let get = "GET /state?since=4 HTTP/1.1\r\nHost: localhost:80\r\n\r\n";
        assert_eq!(status(get), Ok(Some((false, "/state".to_owned(), 0))));
        assert_eq!(status(&get[..30]), Ok(None));
        let post = |more: &str| {
            format!("POST /do HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length: 7\r\n{more}\r\n")
        };
        let json = "Content-Type: application/json; charset=utf-8\r\n";
        assert_eq!(status(&post(json)), Ok(Some((true, "/do".to_owned(), 7))));
        let own = format!("{json}Origin: http://localhost:80\r\n");
        assert_eq!(status(&post(&own)), Ok(Some((true, "/do".to_owned(), 7))));
        // A form, which a page of any origin may send; and its origin.
        assert_eq!(status(&post("Content-Type: text/plain\r\n")), Err(403));
        assert_eq!(status(&post(&format!("{json}Origin: http://example.org\r\n"))), Err(403));
        assert_eq!(status(&post(&format!("{json}Origin: null\r\n"))), Err(403));
    }

    #[test]
    fn others_are_refused() {
        for (text, expected) in [
            // A name that points here.
            ("GET / HTTP/1.1\r\nHost: example.org:80\r\n\r\n", 403),
            ("GET / HTTP/1.1\r\nHost: localhost:81\r\n\r\n", 403),
            ("GET / HTTP/1.1\r\nHost: localhost:80\r\nHost: localhost:80\r\n\r\n", 403),
            ("GET / HTTP/1.1\r\n\r\n", 403),
            ("PUT / HTTP/1.1\r\nHost: localhost:80\r\n\r\n", 405),
            ("\x16\x03\x01\x02\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: localhost:80\r\nContent-Length: many\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: localhost:80\r\nContent-Length: 99999\r\n\r\n", 413),
            ("GET / HTTP/1.1\r\nHost: localhost:80\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ] {
            assert_eq!(status(text), Err(expected), "{text}");
        }
    }
}
