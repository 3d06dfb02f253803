// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func runEtcd() {
	etcdmain.Main(os.Args)
}
