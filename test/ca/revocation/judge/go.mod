module countersign.dev/revocationjudge

go 1.26.0
