// SPDX-License-Identifier: Apache-2.0
/** Serving certificates at a steady rate, by nobody who waits for the ones before. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import type { Client } from '#kube/client/client.ts';
import { RESOURCES } from '../faults/lab/wanted.ts';
import { HOST, type Pair } from './asked.ts';
import { follow, type Followed } from './follow.ts';

const PER_SECOND = 2;

/** A leaf as it was delivered. */
export interface FreshLeaf extends Pair {
  readonly name: string;
  /**
   * etcd's revision of the write that delivered it: all objects of a cluster count by the same one.
   */
  readonly revision: number;
}

export class Leaves {
  readonly delivered: FreshLeaf[] = [];
  /** Of requests that were not taken, denied or failed. */
  readonly refusals: string[] = [];
  readonly #name = `fresh-${randomBytes(4).toString('hex')}`;
  readonly #keys = new Map<string, string>();
  readonly #stopped = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #watch: Followed | undefined;

  /** @param onLeaf - called with each leaf, in the order of their delivery */
  async start(
    clients: { readonly admin: Client; readonly requester: Client },
    signerName: string,
    onLeaf: (leaf: FreshLeaf) => void,
  ): Promise<void> {
    this.#watch = await follow(
      clients.admin,
      { path: RESOURCES.csr.collection() },
      (_name, now) => {
        const leaf =
          now === undefined ? undefined : this.#delivery(now as CertificateSigningRequest);
        if (leaf === undefined) return;
        this.delivered.push(leaf);
        onLeaf(leaf);
      },
    );
    this.#ended = this.#ask(clients.requester, signerName);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
    await this.#watch?.stop();
  }

  #delivery({ metadata, status }: CertificateSigningRequest): FreshLeaf | undefined {
    const { name } = metadata;
    const key = this.#keys.get(name);
    if (key === undefined) return undefined;
    const refused = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (refused !== undefined) this.refusals.push(`${name}: ${refused.message ?? ''}`);
    if (status?.certificate === undefined) return undefined;
    this.#keys.delete(name);
    const cert = Buffer.from(status.certificate, 'base64').toString();
    return { name, key, cert, revision: Number(metadata.resourceVersion) };
  }

  async #ask(requester: Client, signerName: string): Promise<void> {
    const { signal } = this.#stopped;
    const asked: Promise<void>[] = [];
    for (let number = 0; !signal.aborted; number += 1) {
      const one = this.#request(requester, `${this.#name}-${number}`, signerName);
      asked.push(one.catch((error: unknown) => void this.refusals.push(String(error))));
      await sleep(1000 / PER_SECOND, undefined, { signal }).catch(() => undefined);
    }
    await Promise.all(asked);
  }

  async #request(requester: Client, name: string, signerName: string): Promise<void> {
    const { key, pem } = await generatePrivateKey('ECDSAP256');
    this.#keys.set(name, pem);
    const der = encodeRequest({
      subject: { commonName: '', organizations: [], organizationalUnits: [] },
      sans: { dnsNames: [HOST], uris: [], emails: [], ipAddresses: [] },
      key,
    });
    const body = {
      apiVersion: RESOURCES.csr.apiVersion,
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: {
        request: Buffer.from(encodePem('CERTIFICATE REQUEST', der)).toString('base64'),
        signerName,
        usages: ['digital signature', 'server auth'],
      },
    };
    await requester.request({ method: 'POST', path: RESOURCES.csr.collection(), body });
  }
}
