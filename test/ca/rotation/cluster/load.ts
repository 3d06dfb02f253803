// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '#kube/client/client.ts';
import { RESOURCES } from '../../../faults/lab/wanted.ts';
import { podObject } from '../../../support/cluster/pods.ts';
import { requestPem } from '../../../support/cluster/requests/csr.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { PODS } from '#kube/resource/core-v1.ts';

export const NAMESPACE = 'team-a';
/** Kubelets hold 110 pods each; the eldest that run are deleted. */
const MAX_PAGED_PODS = 60;

export interface LoadInit {
  readonly admin: Client;
  /** jane, of group dev. */
  readonly requester: Client;
  /** Pods, and as many CertificateSigningRequests to each signer. */
  readonly perSecond: number;
  readonly podSigner: string;
  readonly csrSigners: readonly string[];
}

/** Pods that are there, by whether they run: none does without its credential. */
export interface Pods {
  readonly running: number;
  readonly waiting: readonly string[];
}

/** Requests at a steady rate, whatever becomes of them, by nobody who waits for the ones before. */
export class Load {
  /** Requests that were stored. */
  created = 0;
  /** Of requests that the API server did not take. */
  readonly failures: string[] = [];
  readonly #init: LoadInit;
  readonly #stopped = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(init: LoadInit) {
    this.#init = init;
  }

  start(): void {
    this.#ended = this.#run();
  }

  /** Makes no more; what was made stays. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
  }

  async pods(): Promise<Pods> {
    const all = await this.#list();
    return {
      running: all.filter(isRunning).length,
      waiting: all.filter((each) => !isRunning(each)).map(({ metadata }) => metadata.name),
    };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    const under: Promise<void>[] = [];
    for (let number = 0; !signal.aborted; number += 1) {
      const burst = this.#burst(number).catch((error: unknown) => {
        this.failures.push(String(error));
      });
      under.push(burst);
      await sleep(1000 / this.#init.perSecond, undefined, { signal }).catch(() => undefined);
    }
    await Promise.all(under);
  }

  async #burst(number: number): Promise<void> {
    const { admin, requester, podSigner, csrSigners } = this.#init;
    const name = `load-${number}`;
    const pod = podObject({
      namespace: NAMESPACE,
      name,
      serviceAccount: 'web',
      node: `node-${1 + (number % 2)}`,
      signerName: podSigner,
      keyType: 'ED25519',
    });
    const csrs = csrSigners.map(async (signerName, index) => ({
      apiVersion: RESOURCES.csr.apiVersion,
      kind: 'CertificateSigningRequest',
      metadata: { name: `${name}-${index}` },
      spec: {
        request: Buffer.from(await requestPem({})).toString('base64'),
        signerName,
        usages: ['digital signature', 'client auth'],
      },
    }));
    await admin.request({ method: 'POST', path: PODS.collection(NAMESPACE), body: pod });
    for (const body of await Promise.all(csrs)) {
      await requester.request({ method: 'POST', path: RESOURCES.csr.collection(), body });
    }
    this.created += 1 + csrs.length;
    if (number % 10 === 0) await this.#thin();
  }

  async #thin(): Promise<void> {
    const running = (await this.#list()).filter(isRunning);
    const old = running
      .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .slice(0, Math.max(0, running.length - MAX_PAGED_PODS));
    for (const { metadata } of old) {
      const path = PODS.object(metadata);
      // The burst before this one may be at it as well.
      await this.#init.admin.request({ method: 'DELETE', path }).catch(ignoreNotFound);
    }
  }

  async #list(): Promise<readonly Pod[]> {
    const path = PODS.collection(NAMESPACE);
    return (await this.#init.admin.request<{ items: Pod[] }>({ method: 'GET', path })).items;
  }
}

interface Pod {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly resourceVersion: string;
  };
  readonly status?: { readonly phase?: string };
}

const isRunning = ({ status }: Pod): boolean => status?.phase === 'Running';
