// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func runScheduler() {
	os.Exit(cli.Run(app.NewSchedulerCommand()))
}
