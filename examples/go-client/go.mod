module example.com/go-client

go 1.24.0

require github.com/spiffe/go-spiffe/v2 v2.6.0
