// SPDX-License-Identifier: Apache-2.0
/**
 * Workloads whose pods get leaves of their own, by CAs that may be distrusted, and a pod-refresher
 * that may be started again.
 */
import assert from 'node:assert/strict';
import type { KubeObject } from '#api/object/object.ts';
import type { Pod, PodVolume } from '#api/object/pod.ts';
import { formatTime } from '#api/object/time.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { DisruptionBudget } from '#api/workload/disruption-budget.ts';
import type { Workload, WorkloadKind } from '#api/workload/workload.ts';
import { trustedSigner } from '#workloads/pod-refresher/signer-trust.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { encodePem } from '#pki/der/pem.ts';
import { ClusterView } from '#workloads/refresh/cluster-view.ts';
import { CERTIFICATES, formatRecord } from '#workloads/refresh/record.ts';
import { Refresher } from '#workloads/refresh/refresher.ts';
import type { RestartLimits } from '#workloads/refresh/restart-slots.ts';
import type { RestartVerdict } from '#workloads/refresh/verdict.ts';
import { LATE_SIGNING_MS } from '#ca/rotation/authorities.ts';
import { ca, keyIds, link, usage, type Link } from '../../support/pki/chain.ts';
import { podOf, START, workloadOf } from './world.ts';

export const HOUR = 3_600_000;
export const MINUTE = 60_000;
export const SIGNER = 'example.com/workload';
/** Of the leaves, and of the projections that ask for them. */
export const LIFE_MS = 24 * HOUR;

const LIMITS: RestartLimits = {
  concurrent: 100,
  concurrentInNamespace: 100,
  perMinute: 100,
  perMinuteInNamespace: 100,
  rolloutTimeoutMs: 600_000,
};

/** The volume as a person writes it, or as injection adds it to the pods. */
export const IDENTITY: PodVolume = {
  name: 'identity',
  projected: {
    sources: [{ podCertificate: { signerName: SIGNER, maxExpirationSeconds: LIFE_MS / 1000 } }],
  },
};

export interface OwnWorkload {
  readonly name: string;
  readonly kind?: WorkloadKind;
  readonly mode?: string;
  /** In the template; otherwise only in its pods, as injection does it. */
  readonly isWritten?: boolean;
  /** Who reads it: a container, or a sidecar that admission adds. */
  readonly reader?: 'container' | 'sidecar';
  readonly volume?: PodVolume;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function authority(name: string): Link {
  return link(name, { extensions: [ca(0), usage(), ...keyIds(name)] });
}

/** One namespace, which opted in; each workload has one pod. */
export class OwnWorld {
  now = START;
  readonly restarts: string[] = [];
  readonly pods = new Map<string, Pod>();
  readonly #workloads = new Map<string, { readonly of: OwnWorkload; workload: Workload }>();
  readonly #requests: PodCertificateRequest[] = [];
  readonly #limits: RestartLimits;
  #view = new ClusterView(() => this.now);
  #refresher: Refresher;
  #signer: ClusterSigner | undefined;
  /** The CA that signs. */
  signing: Link | undefined;
  times: Parameters<ClusterView['states']>[0] = { debounceMs: 0, window: undefined };
  /** Of the namespace. */
  budgets: readonly DisruptionBudget[] = [];

  constructor(workloads: readonly OwnWorkload[], limits: Partial<RestartLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#refresher = new Refresher(this.#limits);
    for (const each of workloads)
      this.#workloads.set(each.name, { of: each, workload: made(each) });
    this.#tellAll();
  }

  /** A process that has seen nothing; requests of the last quarter of an hour are still there. */
  startAgain(): void {
    this.#view = new ClusterView(() => this.now);
    this.#refresher = new Refresher(this.#limits);
    this.#tellAll();
    for (const request of this.#requests) {
      if (Date.parse(request.metadata.creationTimestamp) + 15 * MINUTE > this.now) {
        this.#view.seen.podCertificateRequests('', request, undefined);
      }
    }
    this.#tellSigner();
  }

  /** A pod that was accepted now, with its first leaf. */
  startPod(workload: string): void {
    const { of } = this.#workloads.get(workload) ?? assert.fail();
    const uid = `${workload}-${this.now}`;
    const { metadata, status = {}, ...rest } = podOf(uid, this.now);
    const volumeMounts = [{ name: 'identity' }];
    const spec = {
      volumes: [of.volume ?? IDENTITY],
      ...(of.reader === 'sidecar'
        ? { containers: [{}], initContainers: [{ restartPolicy: 'Always', volumeMounts }] }
        : { containers: [{ volumeMounts }] }),
    };
    this.pods.set(workload, { ...rest, metadata: { ...metadata, uid }, spec, status });
    this.issue(workload);
  }

  /** What a kubelet asks for, and what it gets. @returns the fingerprint of the leaf */
  issue(workload: string): string {
    const { metadata } = this.pods.get(workload) ?? assert.fail();
    const by = this.signing ?? assert.fail('no CA signs');
    const serial = this.#requests.length + 1;
    const leaf = link(`leaf ${serial}`, { by, extensions: keyIds(undefined, by.name) });
    const { raw } = leaf.certificate;
    const request: PodCertificateRequest = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'PodCertificateRequest',
      metadata: podOf(`request-${serial}`, this.now).metadata,
      spec: {
        signerName: SIGNER,
        podName: metadata.name,
        podUID: metadata.uid,
        nodeName: 'n',
        nodeUID: 'n',
        serviceAccountName: 's',
        serviceAccountUID: 's',
      },
      status: {
        certificateChain: encodePem('CERTIFICATE', raw),
        notBefore: formatTime(this.now),
        notAfter: formatTime(this.now + LIFE_MS),
      },
    };
    this.#requests.push(request);
    this.#view.seen.podCertificateRequests('', request, undefined);
    return fingerprint(raw).replace('sha256:', '');
  }

  /** `status.authorities` as `authority` writes it, and who signs from now on. */
  authorities(
    entries: readonly (readonly [Link, AuthorityStatus['phase'], since?: number])[],
  ): void {
    const all = entries.map(([{ certificate }, phase, since = this.now]) => ({
      fingerprint: fingerprint(certificate.raw),
      phase,
      notBefore: formatTime(START - HOUR),
      notAfter: formatTime(START + 8_760 * HOUR),
      longestLeaf: '24h',
      anchors: encodePem('CERTIFICATE', certificate.raw),
      ...(phase === 'Active' || phase === 'Prepared'
        ? {}
        : { leavesExpireBy: formatTime(since + LATE_SIGNING_MS + LIFE_MS) }),
    }));
    this.signing = entries.find(([, phase]) => phase === 'Active')?.[0];
    this.#signer = {
      apiVersion: 'countersign.dev/v1alpha1',
      kind: 'ClusterSigner',
      metadata: podOf('workload', START).metadata,
      spec: { signerName: SIGNER, authority: {} } as ClusterSigner['spec'],
      status: { authorities: all },
    };
    this.#tellSigner();
  }

  /** One pass; what it restarts has other pods at once. */
  async pass(): Promise<Readonly<Record<string, RestartVerdict['kind']>>> {
    const verdicts = await this.#refresher.pass(this.#view.states(this.times).states, {
      now: () => this.now,
      budgetsOf: () => this.budgets,
      podsOf: ({ workload }) => Promise.resolve(this.#podsOf(workload.metadata.name)),
      restart: ({ workload, record }) => {
        const { name } = workload.metadata;
        this.restarts.push(name);
        this.#record(name, formatRecord(record));
        if (this.signing !== undefined) this.startPod(name);
        return Promise.resolve('begun');
      },
      evict: () => assert.fail('no workload chose evictions'),
    });
    return Object.fromEntries(
      [...verdicts].map(([key, { kind }]) => [key.split('/')[2] ?? '', kind] as const),
    );
  }

  recordOf(name: string): string {
    const { workload } = this.#workloads.get(name) ?? assert.fail();
    return workload.spec.template.metadata?.annotations?.[CERTIFICATES] ?? '';
  }

  get view(): ClusterView {
    return this.#view;
  }

  #podsOf(name: string): readonly Pod[] {
    const pod = this.pods.get(name);
    return pod === undefined ? [] : [pod];
  }

  #record(name: string, record: string): void {
    const entry = this.#workloads.get(name) ?? assert.fail();
    const { spec } = entry.workload;
    const template = { ...spec.template, metadata: { annotations: { [CERTIFICATES]: record } } };
    const workload = { ...entry.workload, spec: { ...spec, template } };
    this.#view.seen.workloads(`team-a/${name}`, workload, entry.workload);
    entry.workload = workload;
  }

  #tellAll(): void {
    const { metadata } = podOf('team-a', START);
    const namespace: KubeObject = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { ...metadata, labels: { 'countersign.dev/refresh': 'enabled' } },
    };
    this.#view.seen.namespaces('team-a', namespace, undefined);
    for (const [name, { workload }] of this.#workloads) {
      this.#view.seen.workloads(`team-a/${name}`, workload, undefined);
    }
  }

  #tellSigner(): void {
    if (this.#signer === undefined) return;
    this.#view.seen.signers('workload', trustedSigner(this.#signer), undefined);
  }
}

function made({
  name,
  kind = 'Deployment',
  mode,
  isWritten = false,
  volume = IDENTITY,
  annotations,
}: OwnWorkload): Workload {
  const given = { namespace: 'team-a', name, kind, secrets: [], replicas: 1 };
  const base = workloadOf({ ...given, ...(mode === undefined ? {} : { mode }) });
  const spec = {
    volumes: [volume],
    containers: [{ volumeMounts: [{ name: 'identity' }] }],
  };
  const metadata = {
    ...base.metadata,
    annotations: { ...base.metadata.annotations, ...annotations },
  };
  return {
    ...base,
    metadata,
    spec: { ...base.spec, template: isWritten ? { spec } : { spec: { containers: [{}] } } },
  };
}
