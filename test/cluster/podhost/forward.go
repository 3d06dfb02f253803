// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net"
)

// forward hands each connection on to one that dial opens, until the listener is closed. One that
// cannot be handed on is reset, as near as this comes to a refusal.
func forward(listener net.Listener, dial func() (net.Conn, error)) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			to, err := dial()
			if err != nil {
				_ = from.(*net.TCPConn).SetLinger(0)
				from.Close()
				return
			}
			splice(from.(*net.TCPConn), to.(*net.TCPConn))
		}()
	}
}

// splice copies both ways, and says an end of one side to the other.
func splice(one, other *net.TCPConn) {
	done := make(chan struct{})
	copyTo := func(to, from *net.TCPConn) {
		if _, err := io.Copy(to, from); err != nil {
			// A peer that was reset is no peer that has said all.
			_ = to.SetLinger(0)
			to.Close()
		}
		_ = to.CloseWrite()
		done <- struct{}{}
	}
	go copyTo(one, other)
	go copyTo(other, one)
	<-done
	<-done
	one.Close()
	other.Close()
}
