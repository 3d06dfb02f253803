// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#api/object/object.ts';
import type { Pod } from '#api/object/pod.ts';
import type { Service } from '#api/object/service.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { evaluatePod } from '#requests/pcr-issuer/decide.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import type { Output } from '#operations/report.ts';
import { reasonOf } from '#requests/loop/error-outcome.ts';
import type { LeafSubject } from '#base/vocabulary.ts';
import { parseSignerFile } from './signer-file.ts';
import { printVerdict, type PolicyTestVerdict } from './test-certificate-request.ts';

/** Flags of `countersign policy test --pod`. */
interface PodTestOptions {
  readonly signerFile: string;
  readonly pod: string;
  readonly namespace?: string;
  readonly output: Output;
  readonly reservedPrefix: readonly string[];
}

/** Metadata that the API server adds, and a file lacks. */
const UNSET = { uid: '', resourceVersion: '', creationTimestamp: '' };

/**
 * Runs `countersign policy test --pod`: prints the names of a pod's leaf, or why it would get none.
 *
 * @returns the exit code
 * @throws SignerError SPEC_INVALID for a file that cannot be read
 */
export async function testPod(options: PodTestOptions): Promise<number> {
  const signer = parseSignerFile(await readFile(options.signerFile, 'utf8'), options.signerFile);
  const objects = objectsOf(await readFile(options.pod, 'utf8'), options.pod);
  const pod = podIn(objects, options);
  const { namespace } = pod.metadata;
  const services = objects.filter(
    ({ kind, metadata }) =>
      kind === 'Service' && (metadata.namespace ?? options.namespace ?? 'default') === namespace,
  );
  // The others are Services.
  const evidence = { pod, services: services as readonly Service[] };
  return printVerdict(judge(signer, evidence, options), '\n', options.output);
}

function judge(
  { spec }: SignerObject,
  evidence: { readonly pod: Pod; readonly services: readonly Service[] },
  { reservedPrefix: reservedPrefixes }: PodTestOptions,
): PolicyTestVerdict {
  const profile = compileProfile(spec);
  const { pods } = profile;
  if (pods === undefined)
    return {
      word: 'NO OPINION',
      message: 'there is no spec.pods: this signer does not serve pods',
    };
  const request = requestOf(evidence.pod, spec.signerName);
  if (request === undefined) {
    const message = `the pod has no volume with a podCertificate of signer ${spec.signerName}`;
    return { word: 'NO OPINION', message };
  }
  const snapshot = { request, profile, reservedPrefixes, evidence };
  const found = attempt(() => pods.together(() => evaluatePod(snapshot, pods)));
  return podVerdict(found, (subject) => ({ word: 'APPROVE', message: namesText(subject) }));
}

/**
 * Returns the verdict of the rules on a pod.
 *
 * @param approve - returns the verdict for a pod that gets this leaf
 */
export function podVerdict<V>(
  found: ReturnType<typeof evaluatePod> | SignerError,
  approve: (subject: LeafSubject) => V,
): V | PolicyTestVerdict {
  if (found instanceof SignerError) return waits(found);
  if (!('kind' in found)) return approve(found.subject);
  if (found.kind === 'deny') return { word: 'DENY', message: `${found.reason}: ${found.message}` };
  return found.kind === 'wait' ? waits(found.error) : { word: 'NO OPINION', message: found.kind };
}

/** Returns the verdict of an error that delays the answer until a user fixes it. */
function waits(error: SignerError): PolicyTestVerdict {
  return { word: 'NO OPINION', message: `${reasonOf(error)}: ${error.message}` };
}

function namesText({ commonName, dnsNames, uris, ipAddresses }: LeafSubject): string {
  return [
    ...(commonName === '' ? [] : [`CN ${commonName}`]),
    ...dnsNames.map((name) => `DNS ${name}`),
    ...uris.map((name) => `URI ${name}`),
    ...ipAddresses.map((name) => `IP ${name}`),
  ].join('\n');
}

function objectsOf(text: string, fileName: string): readonly KubeObject[] {
  return parseAllDocuments(text, { logLevel: 'error' }).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw invalid(`${fileName}: ${problem.message}`);
    // The evidence of a pod needs only what is checked below.
    const object = document.toJS({ maxAliasCount: 100 }) as
      (Partial<KubeObject> & { readonly items?: readonly KubeObject[] }) | null;
    if (object?.items !== undefined) return object.items;
    // A value with metadata is an object: its kind is compared below.
    return object?.metadata === undefined ? [] : [object as KubeObject];
  });
}

/** A workload with a pod template. CronJobs have it one level deeper. */
interface TemplatedWorkload extends KubeObject {
  readonly spec?: {
    readonly serviceName?: string;
    readonly template?: Pick<Pod, 'spec'> & { readonly metadata?: Partial<Pod['metadata']> };
    readonly jobTemplate?: Pick<TemplatedWorkload, 'spec'>;
  };
}

/** Returns the Pod in the file, or the first one of its workload. */
function podIn(objects: readonly KubeObject[], options: PodTestOptions): Pod {
  for (const object of objects) {
    // The kind determines the type.
    const found = object.kind === 'Pod' ? (object as Pod) : firstOf(object);
    if (found === undefined) continue;
    const namespace = object.metadata.namespace ?? options.namespace ?? 'default';
    const metadata = { ...found.metadata, ...UNSET, namespace };
    return { ...found, metadata, spec: settled(found.spec) };
  }
  const what = 'there is neither a Pod nor a workload with a template of one; add it';
  throw invalid(`${options.pod}: ${what}`);
}

/** Returns the first pod of a workload, or undefined if it creates none. */
function firstOf({ kind, metadata, ...workload }: KubeObject): Pod | undefined {
  // The fields of a workload that the file may leave out are optional.
  const { spec } = workload as Pick<TemplatedWorkload, 'spec'>;
  const template = spec?.template ?? spec?.jobTemplate?.spec?.template;
  if (template === undefined) return undefined;
  const name = `${metadata.name}-0`;
  const ofSet =
    kind === 'StatefulSet' ? { hostname: name, subdomain: spec?.serviceName ?? '' } : {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, ...UNSET, name },
    spec: { ...ofSet, ...template.spec },
  };
}

/** Returns the spec with the fields that the API server and the scheduler fill in. */
function settled(spec: Pod['spec']): Pod['spec'] {
  const { nodeName = 'node', serviceAccountName = 'default' } = spec;
  return { ...spec, nodeName, serviceAccountName };
}

/** Returns the request that the pod's kubelet would write, without a key. */
function requestOf({ metadata, spec }: Pod, signerName: string): PodCertificateRequest | undefined {
  const source = (spec.volumes ?? [])
    .flatMap(({ projected }) => projected?.sources ?? [])
    .find(({ podCertificate }) => podCertificate?.signerName === signerName)?.podCertificate;
  if (source === undefined) return undefined;
  const { nodeName = '', serviceAccountName = '' } = spec;
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: { ...UNSET, namespace: metadata.namespace ?? '', name: 'policy-test' },
    spec: {
      signerName,
      podName: metadata.name,
      podUID: metadata.uid,
      nodeName,
      nodeUID: '',
      serviceAccountName,
      serviceAccountUID: '',
      ...(source.userAnnotations === undefined
        ? {}
        : { unverifiedUserAnnotations: source.userAnnotations }),
    },
  };
}

function invalid(message: string): SignerError {
  return new SignerError({ code: 'SPEC_INVALID', disposition: 'wait', message });
}
