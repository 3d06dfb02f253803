module countersign.dev/oracle

go 1.26

require (
	filippo.io/mldsa v1.0.0
	github.com/zmap/zcrypto v0.0.0-20230310154051-c8b263fd8300
	github.com/zmap/zlint/v3 v3.6.1
)

require (
	github.com/pelletier/go-toml v1.9.3 // indirect
	github.com/weppos/publicsuffix-go v0.30.0 // indirect
	golang.org/x/crypto v0.17.0 // indirect
	golang.org/x/net v0.17.0 // indirect
	golang.org/x/text v0.14.0 // indirect
)
