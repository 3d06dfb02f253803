// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// imageService has every image of the file at once; there is nothing to pull from.
type imageService struct {
	cri.UnimplementedImageServiceServer
	file string
}

func (s *imageService) ListImages(_ context.Context, request *cri.ListImagesRequest) (*cri.ListImagesResponse, error) {
	images, err := readImages(s.file)
	if err != nil {
		return nil, err
	}
	wanted := request.GetFilter().GetImage().GetImage()
	answer := &cri.ListImagesResponse{}
	for name, image := range images {
		if wanted == "" || wanted == name {
			answer.Images = append(answer.Images, describe(name, image))
		}
	}
	return answer, nil
}

func (s *imageService) ImageStatus(_ context.Context, request *cri.ImageStatusRequest) (*cri.ImageStatusResponse, error) {
	images, err := readImages(s.file)
	if err != nil {
		return nil, err
	}
	name := request.GetImage().GetImage()
	image, ok := images[name]
	if !ok {
		return &cri.ImageStatusResponse{}, nil
	}
	return &cri.ImageStatusResponse{Image: describe(name, image)}, nil
}

func (s *imageService) PullImage(_ context.Context, request *cri.PullImageRequest) (*cri.PullImageResponse, error) {
	images, err := readImages(s.file)
	if err != nil {
		return nil, err
	}
	name := request.GetImage().GetImage()
	if _, ok := images[name]; !ok {
		return nil, status.Errorf(codes.NotFound, "no image %q on this host, and no registry to pull it from", name)
	}
	return &cri.PullImageResponse{ImageRef: name}, nil
}

func (s *imageService) RemoveImage(context.Context, *cri.RemoveImageRequest) (*cri.RemoveImageResponse, error) {
	return &cri.RemoveImageResponse{}, nil
}

func (s *imageService) ImageFsInfo(context.Context, *cri.ImageFsInfoRequest) (*cri.ImageFsInfoResponse, error) {
	return &cri.ImageFsInfoResponse{}, nil
}

func describe(name string, image Image) *cri.Image {
	id := image.ID
	if id == "" {
		id = name
	}
	return &cri.Image{
		Id: id, RepoTags: []string{name}, Size: 1,
		Uid:  &cri.Int64Value{Value: image.UID},
		Spec: &cri.ImageSpec{Image: name},
	}
}
