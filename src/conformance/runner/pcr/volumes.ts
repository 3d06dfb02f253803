// SPDX-License-Identifier: Apache-2.0
/**
 * Creates pods with a podCertificate volume, and observes the PodCertificateRequests of their
 * kubelets.
 */
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import {
  NO_NAMES,
  type RequestedLeaf,
  type ScenarioResult,
} from '#conformance/observed-request.ts';
import { pcrVersion } from '#conformance/pcr/version.ts';
import type { Operation } from '#conformance/snapshot.ts';
import { messageOf } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { PODS } from '#kube/resource/core-v1.ts';
import { decodePublicKey, type PublicKeyInfo } from '#pki/keys/public-key.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { awaitPod, podName, podOf, runs } from '../pods.ts';
import { certificatesRule, coreRule } from '../permissions.ts';
import { StepSkipped, check, runStep } from '../steps.ts';
import { observationFacts, versionsSince } from '../requests.ts';
import { untilAnswered, type PcrRun } from './run.ts';
import type { RunServices } from './services.ts';

export interface VolumeWanted {
  readonly name: string;
  readonly maxExpirationSeconds?: number;
  readonly userAnnotations?: Readonly<Record<string, string>>;
  /** Whether the pod mounts the signer's bundle as well. */
  readonly trust?: boolean;
  /** The Services that select the pod. */
  readonly services?: RunServices;
  /** True if the request may wait indefinitely. The runner then observes it for `quietMs`. */
  readonly mayWait?: boolean;
}

/** The result of a pod's volume. */
export interface MountedVolume {
  readonly observed: () => ScenarioResult;
  readonly request?: PodCertificateRequest;
  readonly starts: Operation;
}

/** Returns why pods cannot be created, or undefined if they can. */
export function lackingForPods({
  run,
  requests,
}: Omit<PcrRun, 'recorder'>): Promise<string | undefined> {
  return run.permissions.missing(
    coreRule(['create', 'get', 'delete'], 'pods', run.namespace),
    certificatesRule(['list', 'watch'], requests.plural, run.namespace),
  );
}

/** Creates a pod with a credential, and observes the request of its kubelet. */
export async function mountVolume(pcr: PcrRun, wanted: VolumeWanted): Promise<MountedVolume> {
  const { run, recorder, requests } = pcr;
  const missing = await lackingForPods(pcr);
  if (missing !== undefined) return skipped(missing);
  const begun = run.clock();
  const refused = await createPod(pcr, wanted);
  if (refused !== undefined) return skipped(refused);
  const name = podName(run, wanted.name);
  const find = (): PodCertificateRequest | undefined =>
    recorder
      .objects()
      .find(({ spec }) => spec.podName === name && spec.signerName === run.signerName);
  try {
    await awaitPod(run, wanted.name, () => find() !== undefined, run.timeoutMs);
  } catch (error) {
    if (error instanceof StepSkipped) return skipped(error.message);
    throw error;
  }
  const request = find();
  if (request === undefined) {
    return skipped(`no kubelet made a request for the pod in ${run.timeoutMs / 1000} s`);
  }
  run.created.track(requests, request.metadata);
  const requested = requestedBy(request, wanted.services);
  if (requested === undefined)
    return skipped('its kubelet speaks an older version of the API: the request shows no key');
  const { uid } = request.metadata;
  const firstAt = begunAt(pcr, request);
  const starts = await runStep(async () => {
    const started = await hasStarted(pcr, wanted, uid);
    const ms = run.clock() - begun;
    check(started, `it does not run after ${ms} ms`);
    return `it runs after ${ms} ms`;
  });
  return {
    request,
    observed: () => ({
      ...observationFacts(run, recorder, requested, firstAt),
      versions: versionsSince(recorder, uid, firstAt, pcrVersion),
    }),
    starts,
  };
}

async function hasStarted(pcr: PcrRun, wanted: VolumeWanted, uid: string): Promise<boolean> {
  const { run } = pcr;
  const { mayWait = false } = wanted;
  await untilAnswered(pcr, uid, mayWait ? run.quietMs : run.timeoutMs);
  return !mayWait && runs(run, wanted.name, run.timeoutMs);
}

/** @returns why the API server rejected the pod */
async function createPod(pcr: PcrRun, wanted: VolumeWanted): Promise<string | undefined> {
  const { run } = pcr;
  const labels = wanted.services?.labels;
  try {
    await run.created.create(PODS, podOf(run, wanted.name, [sourcesOf(pcr, wanted)], labels));
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || error.status === 0) throw error;
    return `the pod was refused: ${messageOf(error)}`;
  }
}

function skipped(reason: string): MountedVolume {
  return { observed: () => ({ skipped: reason }), starts: { skipped: reason } };
}

/** Returns the time at which its first version was seen. */
function begunAt({ recorder }: PcrRun, { metadata }: PodCertificateRequest): number {
  return recorder.versionsOf(metadata.uid)[0]?.at ?? 0;
}

export function sourcesOf({ run }: Pick<PcrRun, 'run'>, wanted: VolumeWanted): readonly object[] {
  const { maxExpirationSeconds, userAnnotations } = wanted;
  const { signerName, profile } = run;
  const podCertificate = {
    signerName,
    keyType: profile.keyType,
    credentialBundlePath: 'credentials.pem',
    ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }),
    ...(userAnnotations === undefined ? {} : { userAnnotations }),
  };
  if (wanted.trust !== true) return [{ podCertificate }];
  const clusterTrustBundle = { signerName, labelSelector: {}, path: 'trust-bundle.pem' };
  return [{ podCertificate }, { clusterTrustBundle }];
}

/**
 * Returns the contents of a kubelet's request, or undefined if this version of the API does not
 * show its key.
 */
function requestedBy(
  { metadata, spec }: PodCertificateRequest,
  services: RunServices | undefined,
): RequestedLeaf | undefined {
  const publicKey = keyOf(spec);
  if (publicKey === undefined) return undefined;
  return {
    keyType: publicKey.keyType,
    spki: publicKey.spki,
    names: NO_NAMES,
    usages: [],
    lifetimeSeconds: spec.maxExpirationSeconds,
    pod: { namespace: metadata.namespace ?? '', serviceAccount: spec.serviceAccountName },
    ...(services?.names === undefined ? {} : { services: services.names }),
  };
}

/**
 * Returns the key of a request. Kubelets from 1.36 send a stub. Earlier ones sent the bare key,
 * which v1 does not have.
 */
function keyOf({
  stubPKCS10Request,
  pkixPublicKey,
}: PodCertificateRequest['spec']): PublicKeyInfo | undefined {
  const [stub, key] = [stubPKCS10Request ?? '', pkixPublicKey ?? ''];
  if (stub !== '') return decodeRequest(Buffer.from(stub, 'base64')).publicKey;
  return key === '' ? undefined : decodePublicKey(Buffer.from(key, 'base64'));
}
