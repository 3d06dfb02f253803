module countersign.dev/bench-issue

go 1.26
