// SPDX-License-Identifier: Apache-2.0
import type { Command } from '../binaries.ts';

/** What a container's image says; there is no registry. */
export interface PodImage {
  /** A directory, never written to. */
  readonly root: string;
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  /** NAME=value. */
  readonly env?: readonly string[];
  /** Default 0, root. */
  readonly uid?: number;
}

/** By the name that pods say, with its tag. */
export type PodImages = Readonly<Record<string, PodImage>>;

/** The memory of a container's first process. */
export interface ContainerMemory {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly residentBytes: number;
  /** The part that is of no file: Node's own program is shared by all of a node. */
  readonly anonymousBytes: number;
  /** The most that was resident. */
  readonly peakBytes: number;
}

/** What a cluster knows of its host of real pods; plain data. */
export interface PodHostState {
  readonly program: string;
  readonly imagesFile: string;
  /** The CRI's, one a node. */
  readonly sockets: readonly string[];
  /** Says where the host's network is. */
  readonly networkFile: string;
}

/** Names, and what port 80 of their address leads to, as an Ingress controller would lead there. */
export interface Front {
  /** Every name below them; RFC 2606 reserves `example` and `example.com`. */
  readonly domains: readonly string[];
  readonly namespace: string;
  readonly service: string;
  /** The name of the Service's port. */
  readonly port: string;
}

/** The host that a cluster's pods really run on. */
export interface PodHost {
  /** Adds images, or replaces those of the same names. */
  addImages(images: PodImages): void;
  /** Of every container that runs. */
  memory(): Promise<readonly ContainerMemory[]>;
  /** Ends a pod’s containers by SIGKILL, as a crash would; its kubelet starts them again. */
  kill(namespace: string, pod: string): Promise<void>;
  /** The same command within the host's network. */
  within(command: Command): Command;
}
