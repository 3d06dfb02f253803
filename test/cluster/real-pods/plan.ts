// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../binaries.ts';
import type { AddressPlan } from './addresses.ts';
import { writeImages } from './host.ts';
import type { Front, PodHostState, PodImages } from './types.ts';

/** What there is on a host besides its pods. */
export interface HostContents {
  readonly images?: PodImages | undefined;
  readonly front?: Front | undefined;
}

/** How the components of a cluster are put on a host of real pods. */
export class PodHostPlan {
  readonly state: PodHostState;
  readonly #directory: string;
  readonly #nodes: readonly string[];
  readonly #addresses: AddressPlan;

  constructor(
    program: string,
    directory: string,
    { nodes, addresses }: { readonly nodes: readonly string[]; readonly addresses: AddressPlan },
  ) {
    this.#directory = join(directory, 'podhost');
    this.#nodes = nodes;
    this.#addresses = addresses;
    mkdirSync(this.#directory, { recursive: true });
    this.state = {
      program,
      imagesFile: join(this.#directory, 'images.json'),
      sockets: nodes.map((_, index) => this.#socketOf(index)),
      networkFile: join(this.#directory, 'network'),
    };
  }

  /** The same command within the host's network. */
  within(command: Command): Command {
    return [this.state.program, 'enter', this.state.networkFile, ...command];
  }

  /** The same command there, whose mounts pods see: a kubelet. */
  withMounts(command: Command): Command {
    return [this.state.program, 'enter-mounts', this.state.networkFile, ...command];
  }

  /** What kube-apiserver is told besides; the last of a flag counts. */
  apiServerFlags(pki: string): string[] {
    return [
      `--bind-address=${this.#addresses.every}`,
      // Its own endpoint, of the Service `kubernetes`; a loopback address is refused there.
      `--advertise-address=${this.#addresses.host}`,
      `--service-cluster-ip-range=${this.#addresses.services}`,
      '--endpoint-reconciler-type=lease',
      '--enable-aggregator-routing=true',
      `--kubelet-client-certificate=${join(pki, 'kubelet-client.crt')}`,
      `--kubelet-client-key=${join(pki, 'kubelet-client.key')}`,
      '--kubelet-preferred-address-types=InternalIP',
    ];
  }

  kubeletFlags(node: string, pki: string): string[] {
    const index = this.#nodes.indexOf(node);
    return [
      `--runtime-endpoint=unix://${this.#socketOf(index)}`,
      `--node-ip=${this.#addresses.node(index).join(',')}`,
      `--cluster-dns=${this.#addresses.host}`,
      `--tls-dir=${pki}`,
      `--client-ca-file=${join(pki, 'client-ca.crt')}`,
    ];
  }

  /**
   * Writes what the host reads, and answers with its command. `ports` lead in, the health's is one
   * of them.
   */
  compose(
    kubeconfig: string,
    { images = {}, front }: HostContents,
    ports: readonly number[],
    health: number,
  ): Command {
    const file = join(this.#directory, 'config.json');
    writeImages(this.state.imagesFile, images);
    const config = {
      directory: this.#directory,
      namespaceFile: this.state.networkFile,
      ports,
      kubeconfig,
      images: this.state.imagesFile,
      healthPort: health,
      front,
      families: this.#addresses.families,
      nodes: this.#nodes.map((name, index) => ({
        name,
        addresses: this.#addresses.node(index),
        socket: this.#socketOf(index),
      })),
    };
    writeFileSync(file, JSON.stringify(config));
    return [this.state.program, 'serve', file];
  }

  #socketOf(index: number): string {
    return join(this.#directory, `${index + 1}.sock`);
  }
}
