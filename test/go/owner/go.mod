module countersign.dev/test/owner

go 1.26
