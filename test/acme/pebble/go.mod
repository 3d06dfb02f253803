module countersign.dev/test/pebble

go 1.26.0

require (
	countersign.dev/test/owner v0.0.0
	github.com/letsencrypt/challtestsrv v1.4.2
	github.com/letsencrypt/pebble/v2 v2.10.1
)

require (
	github.com/go-jose/go-jose/v4 v4.1.4 // indirect
	github.com/miekg/dns v1.1.62 // indirect
	golang.org/x/mod v0.24.0 // indirect
	golang.org/x/net v0.40.0 // indirect
	golang.org/x/sync v0.14.0 // indirect
	golang.org/x/sys v0.33.0 // indirect
	golang.org/x/tools v0.33.0 // indirect
)

replace countersign.dev/test/owner => ../../go/owner
