// SPDX-License-Identifier: Apache-2.0

//go:build !kubernetes_1_36

package main

import (
	"context"
	"time"

	cri "k8s.io/cri-api/pkg/apis"
	remote "k8s.io/cri-client/pkg"
)

func dialRuntime(ctx context.Context, endpoint string) (cri.RuntimeService, error) {
	return remote.NewRemoteRuntimeServiceBuilder().
		WithEndpoint(endpoint).
		WithConnectionTimeout(15 * time.Second).
		Build(ctx)
}

func dialImages(ctx context.Context, endpoint string) (cri.ImageManagerService, error) {
	return remote.NewRemoteImageServiceBuilder().
		WithEndpoint(endpoint).
		WithConnectionTimeout(15 * time.Second).
		Build(ctx)
}
