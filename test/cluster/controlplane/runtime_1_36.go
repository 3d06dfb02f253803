// SPDX-License-Identifier: Apache-2.0

//go:build kubernetes_1_36

package main

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace/noop"
	cri "k8s.io/cri-api/pkg/apis"
	remote "k8s.io/cri-client/pkg"
)

func dialRuntime(ctx context.Context, endpoint string) (cri.RuntimeService, error) {
	return remote.NewRemoteRuntimeService(ctx, endpoint, 15*time.Second, noop.NewTracerProvider(), false)
}

func dialImages(ctx context.Context, endpoint string) (cri.ImageManagerService, error) {
	return remote.NewRemoteImageService(ctx, endpoint, 15*time.Second, noop.NewTracerProvider(), false)
}
