// SPDX-License-Identifier: Apache-2.0
/** Certificates, requests and anchors in objects of the cluster. */
import { isUtf8 } from 'node:buffer';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { byAge, type ConfigMap, type Secret } from '#api/object/object.ts';
import { selects } from '#api/object/label-selector.ts';
import type { Pod, PodVolume } from '#api/object/pod.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  withSpec,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { certificatesResources } from '#component/certificates-resources.ts';
import { SignerError, type ErrorCode } from '#base/errors.ts';
import type { Subject } from '#diagnose/explain/lookup/reading.ts';
import { readNamedSigner } from '#diagnose/explain/read-signer-view.ts';
import type { Material } from '#diagnose/inspect/read-material.ts';
import type { NamedBundle } from '#diagnose/inspect/relations.ts';
import { kindNamed, type KindName } from '#diagnose/kinds.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { CONFIG_MAPS, PODS, SECRETS } from '#kube/resource/core-v1.ts';
import { resource } from '#kube/resource/resource.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { unissuedNote } from './unissued.ts';

/** Content of one object, and notes on missing parts. */
export interface ObjectMaterials {
  readonly materials: readonly Material[];
  /** Sentences about missing parts. */
  readonly notes: readonly string[];
  /** The request, for a caller that judges the version that was read. */
  readonly request?: CertificateSigningRequest | CertificateRequest;
  /** IP address of the pod. */
  readonly podIp?: string | undefined;
  /** Signer names of the certificates that the pod mounts. */
  readonly podSigners?: readonly string[];
  /** ConfigMaps that the pod mounts. {@link readConfigMaps} reads them. */
  readonly podConfigMaps?: readonly MountedSubject[];
  /** True if more may hold certificates: an object that was not read, or a keystore. */
  readonly isPartial?: boolean;
}

const CSRS = resource(CSR_RESOURCE);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** An object that a pod mounts. */
interface MountedSubject extends Subject {
  readonly kind: 'secret' | 'configmap' | 'ctb';
}

type ObjectReader = (client: Client, subject: Subject) => Promise<ObjectMaterials>;

const READERS: Readonly<Partial<Record<KindName, ObjectReader>>> = {
  csr: readCsr,
  pcr: readPcr,
  certificaterequest: readCertificateRequest,
  ctb: readBundle,
  secret: readSecret,
  configmap: readConfigMap,
  pod: readPod,
};

/** Returns the reader of a kind, or undefined if its objects have nothing to read. */
export function readerOf(kind: string): ObjectReader | undefined {
  const name = kindNamed(kind);
  return name === undefined ? undefined : READERS[name];
}

async function readCsr(client: Client, { name }: Subject): Promise<ObjectMaterials> {
  const path = CSRS.object({ name });
  const request = await client.request<CertificateSigningRequest>({ method: 'GET', path });
  const { spec, status } = request;
  const source = `csr/${name}`;
  const note = unissuedNote(source, status?.conditions, source);
  const found = requestAndCertificate(source, spec.request, status?.certificate, note);
  return { ...found, materials: found.materials.map(signedBy(spec.signerName)), request };
}

/** Adds the signer name of their request to materials. */
function signedBy(signer: string): (each: Material) => Material {
  return (each) => ({ ...each, signer });
}

async function readCertificateRequest(
  client: Client,
  { name, namespace }: Subject,
): Promise<ObjectMaterials> {
  const path = CERTIFICATE_REQUESTS.object({ name, namespace });
  const request = withSpec(await client.request<CertificateRequest>({ method: 'GET', path }));
  const { spec, status } = request;
  const source = `certificaterequest/${name}`;
  const note = unissuedNote(source, status?.conditions, source, namespace);
  const parts = requestAndCertificate(source, spec.request, status?.certificate, note);
  const found = { ...parts, request };
  const { signer } = await readNamedSigner(client, spec.issuerRef, namespace);
  return signer === undefined
    ? found
    : { ...found, materials: found.materials.map(signedBy(signer.spec.signerName)) };
}

/** @param missing - note if there is no certificate */
function requestAndCertificate(
  source: string,
  request: string,
  certificate = '',
  missing: string,
): ObjectMaterials {
  const asked = material(`${source} spec.request`, request);
  if (certificate === '') return { materials: [asked], notes: [missing] };
  return { materials: [asked, material(`${source} status.certificate`, certificate)], notes: [] };
}

async function readPcr(client: Client, { name, namespace }: Subject): Promise<ObjectMaterials> {
  const [kind] = await certificatesResources(client, 'podcertificaterequests');
  const path = kind.object({ name, namespace });
  return ofPcr(await client.request<PodCertificateRequest>({ method: 'GET', path }));
}

function ofPcr({ metadata, spec, status }: PodCertificateRequest): ObjectMaterials {
  const source = `pcr/${metadata.name}`;
  const stub = spec.stubPKCS10Request ?? '';
  const chain = status?.certificateChain ?? '';
  const asked =
    stub === ''
      ? []
      : [{ ...material(`${source} spec.stubPKCS10Request`, stub), isStub: true } as const];
  if (chain === '') {
    const note = unissuedNote(source, status?.conditions, source, metadata.namespace);
    return { materials: asked, notes: [note] };
  }
  const issued = { source: `${source} status.certificateChain`, bytes: Buffer.from(chain) };
  return { materials: [...asked, issued].map(signedBy(spec.signerName)), notes: [] };
}

async function readBundle(client: Client, { name }: Subject): Promise<ObjectMaterials> {
  const [kind] = await certificatesResources(client, 'clustertrustbundles');
  const bundle = await client.request<ClusterTrustBundle>({
    method: 'GET',
    path: kind.object({ name }),
  });
  return { materials: [ofBundle(bundle)], notes: [] };
}

function ofBundle({ metadata, spec }: ClusterTrustBundle): Material {
  return { source: `ctb/${metadata.name}`, bytes: Buffer.from(spec.trustBundle) };
}

async function readSecret(client: Client, { name, namespace }: Subject): Promise<ObjectMaterials> {
  const path = SECRETS.object({ name, namespace });
  const { data = {} } = await client.request<Secret>({ method: 'GET', path });
  return entriesOf(`secret/${name}`, data);
}

async function readConfigMap(
  client: Client,
  { name, namespace }: Subject,
): Promise<ObjectMaterials> {
  const path = CONFIG_MAPS.object({ name, namespace });
  const { data = {}, binaryData = {} } = await client.request<ConfigMap>({ method: 'GET', path });
  const texts = Object.entries(data).map(([key, text]): [string, string] => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  return entriesOf(`configmap/${name}`, { ...Object.fromEntries(texts), ...binaryData });
}

/** Returns the entries to inspect: PEM, or DER in a file with a known extension. */
function entriesOf(source: string, data: Readonly<Record<string, string>>): ObjectMaterials {
  const all = Object.entries(data).map(([key, base64]) => material(`${source} ${key}`, base64));
  const materials = all.filter(({ bytes, source: key }) => {
    const isPem = Buffer.from(bytes).includes('-----BEGIN ');
    return isPem || (bytes[0] === 0x30 && /\.(?:p12|pfx|der|crt|cer|crl|p7b)$/.test(key));
  });
  const notes = materials.length === 0 ? [`${source} has no certificate, request, CRL or key`] : [];
  const isPartial = all.some((each) => !materials.includes(each) && isBinary(each));
  return { materials, notes, isPartial };
}

/** Reports whether bytes are no text, so that they may be DER or a keystore. */
function isBinary({ bytes }: Material): boolean {
  return !isUtf8(bytes);
}

/**
 * Reads the credentials of a pod: its podCertificates by their newest requests, its anchors, and
 * its Secrets.
 */
async function readPod(client: Client, { name, namespace }: Subject): Promise<ObjectMaterials> {
  const pod = await client.request<Pod>({ method: 'GET', path: PODS.object({ name, namespace }) });
  const mounted = mountedSubjects(pod, namespace);
  const isConfigMap = ({ kind }: Subject): boolean => kind === 'configmap';
  const found = together([
    await mountedCertificates(client, pod, namespace),
    await mountedBundles(client, pod),
    ...(await Promise.all(
      mounted.filter((each) => !isConfigMap(each)).map((each) => readMounted(client, each)),
    )),
  ]);
  const podConfigMaps = mounted.filter(isConfigMap);
  return { ...found, podIp: pod.status?.podIP, podSigners: podSignersOf(pod), podConfigMaps };
}

/** Reads the ConfigMaps of a pod, which rarely hold certificates. */
export async function readConfigMaps(
  client: Client,
  { podConfigMaps = [] }: ObjectMaterials,
): Promise<ObjectMaterials> {
  return together(await Promise.all(podConfigMaps.map((each) => readMounted(client, each))));
}

function together(all: readonly ObjectMaterials[]): ObjectMaterials {
  return {
    materials: all.flatMap(({ materials }) => materials),
    notes: all.flatMap(({ notes }) => notes),
    isPartial: all.some(({ isPartial }) => isPartial),
  };
}

/** Returns the bundles of signers. A kubelet mounts those whose labels the volume selects. */
async function mountedBundles(client: Client, pod: Pod): Promise<ObjectMaterials> {
  const wanted = sourcesOf(pod).flatMap(({ clusterTrustBundle: of }) =>
    of?.signerName === undefined ? [] : [of],
  );
  if (wanted.length === 0) return { materials: [], notes: [] };
  // API rule: a missing selector selects nothing, and an empty one everything.
  const isMounted = ({ metadata, spec }: ClusterTrustBundle): boolean =>
    wanted.some(
      ({ signerName, labelSelector }) =>
        signerName === spec.signerName &&
        labelSelector !== undefined &&
        selects(labelSelector, metadata.labels),
    );
  try {
    const [kind] = await certificatesResources(client, 'clustertrustbundles');
    const mounted = await listObjects(client, kind, { keep: isMounted });
    return { materials: mounted.map(ofBundle), notes: [] };
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    const note = 'ClusterTrustBundles are mounted, but you may not list them';
    return { materials: [], notes: [note], isPartial: true };
  }
}

function sourcesOf({ spec }: Pod): NonNullable<NonNullable<PodVolume['projected']>['sources']> {
  return (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
}

function podSignersOf(pod: Pod): readonly string[] {
  const all = sourcesOf(pod).flatMap(({ podCertificate: of }) => of?.signerName ?? []);
  return [...new Set(all)];
}

async function mountedCertificates(
  client: Client,
  pod: Pod,
  namespace: string,
): Promise<ObjectMaterials> {
  const { metadata } = pod;
  const signers = podSignersOf(pod);
  if (signers.length === 0) return { materials: [], notes: [] };
  const [kind] = await certificatesResources(client, 'podcertificaterequests');
  const requests = await listObjects<PodCertificateRequest>(client, kind, {
    namespace,
    keep: ({ spec }) => spec.podUID === metadata.uid,
  });
  const found = signers.map((signer) =>
    ofNewest(
      pod,
      signer,
      requests.filter(({ spec }) => spec.signerName === signer),
    ),
  );
  return {
    materials: found.flatMap(({ materials }) => materials),
    notes: found.flatMap(({ notes }) => notes),
  };
}

/**
 * Returns the newest certificate of a pod by one signer. A newer request without a certificate has
 * a note, because the pod does not get the next certificate.
 */
function ofNewest(
  { metadata: { name, namespace } }: Pod,
  signer: string,
  requests: readonly PodCertificateRequest[],
): ObjectMaterials {
  const byTime = requests.toSorted(byAge);
  const newest = byTime.at(-1);
  if (newest === undefined) {
    const gone = `no PodCertificateRequest of ${signer} is left (the API server deletes them after 15 minutes); --port reads it from the pod itself`;
    return { materials: [], notes: [gone] };
  }
  const issued = byTime.findLast(({ status }) => (status?.certificateChain ?? '') !== '');
  const { materials, notes } = issued === undefined ? NOTHING : ofPcr(issued);
  if (issued === newest) return { materials, notes };
  const source = `pcr/${newest.metadata.name} of ${signer}`;
  const note = unissuedNote(source, newest.status?.conditions, `pod/${name}`, namespace);
  return { materials, notes: [...notes, note] };
}

const NOTHING: ObjectMaterials = { materials: [], notes: [] };

function mountedSubjects({ spec }: Pod, namespace: string): readonly MountedSubject[] {
  const volumes = spec.volumes ?? [];
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  const found = [
    ...volumes.map(({ secret }) => ['secret', secret?.secretName] as const),
    ...sources.map(({ secret }) => ['secret', secret?.name] as const),
    ...sources.map(({ clusterTrustBundle }) => ['ctb', clusterTrustBundle?.name] as const),
    ...[...volumes, ...sources].map(({ configMap }) => ['configmap', configMap?.name] as const),
  ];
  const names = new Map<string, MountedSubject>();
  for (const [kind, name] of found)
    if (name !== undefined) names.set(`${kind}/${name}`, { kind, name, namespace });
  // The CA of the API server, which each pod mounts with its token, signs no certificate of a pod.
  names.delete('configmap/kube-root-ca.crt');
  return [...names.values()];
}

const MOUNTED_READERS: Readonly<Record<MountedSubject['kind'], ObjectReader>> = {
  secret: readSecret,
  configmap: readConfigMap,
  ctb: readBundle,
};

async function readMounted(client: Client, subject: MountedSubject): Promise<ObjectMaterials> {
  try {
    return { ...(await MOUNTED_READERS[subject.kind](client, subject)), notes: [] };
  } catch (error) {
    if (!(error instanceof KubeError) || ![403, 404].includes(error.status)) throw error;
    const why = error.status === 403 ? 'you may not read it' : 'it does not exist';
    const note = `${subject.kind}/${subject.name} is mounted, but ${why}`;
    return { materials: [], notes: [note], isPartial: true };
  }
}

const NOT_LISTED: readonly ErrorCode[] = ['KUBE_FORBIDDEN', 'KUBE_NOT_FOUND'];

/**
 * Lists all ClusterTrustBundles.
 *
 * @returns undefined if the API is not served, or the user may not list them
 * @throws KubeError of the API server
 */
export async function listBundles(client: Client): Promise<readonly NamedBundle[] | undefined> {
  try {
    const [kind] = await certificatesResources(client, 'clustertrustbundles');
    const bundles = await listObjects<ClusterTrustBundle>(client, kind);
    return bundles.map(({ metadata, spec }) => ({
      name: `ctb/${metadata.name}`,
      pem: spec.trustBundle,
      signer: spec.signerName ?? '',
    }));
  } catch (error) {
    if (!(error instanceof SignerError) || !NOT_LISTED.includes(error.code)) throw error;
    return undefined;
  }
}

function material(source: string, base64: string): Material {
  return { source, bytes: Buffer.from(base64, 'base64') };
}
