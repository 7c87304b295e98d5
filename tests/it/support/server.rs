//! The files of a folder for a browser, at an address of this machine.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

/// Serves a folder until the test ends, and returns its address, which ends in `/`.
pub fn serve(folder: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let folder = folder.to_owned();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let folder = folder.clone();
            // A browser opens connections that it never uses.
            thread::spawn(move || answer(&stream, &folder));
        }
    });
    address
}

/// Answers one request. A browser that has gone away is no error.
fn answer(mut stream: &TcpStream, folder: &Path) -> Option<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next()?;
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let path = first.split(' ').nth(1)?.split('?').next()?.trim_start_matches('/');
    let path = PathBuf::from(if path.is_empty() { "index.html" } else { path });
    let kind = match path.extension().and_then(|it| it.to_str()) {
        Some("html") => "text/html",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        _ => "application/octet-stream",
    };
    let (status, body) = match fs::read(folder.join(&path)) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}
