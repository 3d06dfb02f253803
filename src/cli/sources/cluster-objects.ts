// SPDX-License-Identifier: Apache-2.0
/** What objects of the cluster hold of certificates, requests and anchors. */
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { byAge, type ConfigMap, type Secret } from '../../api/object/object.ts';
import { selects } from '../../api/object/label-selector.ts';
import type { Pod, PodVolume } from '../../api/object/pod.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '../../api/request/certificate-request.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '../../api/request/csr.ts';
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import { certificatesResources } from '../../app/certificates-resources.ts';
import { SignerError, type ErrorCode } from '../../errors.ts';
import type { Subject } from '../../explanations/explain.ts';
import type { Material } from '../../inspecting/read-material.ts';
import type { NamedBundle } from '../../inspecting/relations.ts';
import type { Client } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { CONFIG_MAPS, PODS, SECRETS } from '../../kube/resource/core-v1.ts';
import { resource } from '../../kube/resource/resource.ts';
import { listPages } from '../../kube/watch/list-pages.ts';

/** What was found in one object, and what could not be. */
export interface ObjectMaterials {
  readonly materials: readonly Material[];
  /** Sentences about what is missing. */
  readonly notes: readonly string[];
  /** Where a pod answers. */
  readonly podIp?: string | undefined;
}

const CSRS = resource(CSR_RESOURCE);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

type ObjectReader = (client: Client, subject: Subject) => Promise<ObjectMaterials>;

/** Readers by the kinds' names and short names, as kubectl has them. */
export const OBJECT_READERS: ReadonlyMap<string, ObjectReader> = new Map<string, ObjectReader>([
  ...named(['csr', 'certificatesigningrequest', 'certificatesigningrequests'], readCsr),
  ...named(['pcr', 'podcertificaterequest', 'podcertificaterequests'], readPcr),
  ...named(['cr', 'certificaterequest', 'certificaterequests'], readCertificateRequest),
  ...named(['ctb', 'clustertrustbundle', 'clustertrustbundles'], readBundle),
  ...named(['secret', 'secrets'], readSecret),
  ...named(['cm', 'configmap', 'configmaps'], readConfigMap),
  ...named(['po', 'pod', 'pods'], readPod),
]);

function named(names: readonly string[], reader: ObjectReader): [string, ObjectReader][] {
  return names.map((name) => [name, reader]);
}

async function readCsr(client: Client, { name }: Subject): Promise<ObjectMaterials> {
  const path = CSRS.object({ name });
  const { spec, status } = await client.request<CertificateSigningRequest>({ method: 'GET', path });
  const source = `csr/${name}`;
  return requestAndCertificate(source, spec.request, status?.certificate);
}

async function readCertificateRequest(
  client: Client,
  { name, namespace }: Subject,
): Promise<ObjectMaterials> {
  const path = CERTIFICATE_REQUESTS.object({ name, namespace });
  const { spec, status } = await client.request<CertificateRequest>({ method: 'GET', path });
  const source = `certificaterequest/${name}`;
  return requestAndCertificate(source, spec.request, status?.certificate);
}

function requestAndCertificate(source: string, request: string, certificate = ''): ObjectMaterials {
  const asked = material(`${source} spec.request`, request);
  if (certificate === '')
    return { materials: [asked], notes: [`${source} has no certificate yet`] };
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
  const asked = stub === '' ? [] : [material(`${source} spec.stubPKCS10Request`, stub)];
  if (chain === '') return { materials: asked, notes: [`${source} has no certificate`] };
  const issued = { source: `${source} status.certificateChain`, bytes: Buffer.from(chain) };
  return { materials: [...asked, issued], notes: [] };
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

/** The entries that look like something to inspect: PEM, or DER in a file of a known ending. */
function entriesOf(source: string, data: Readonly<Record<string, string>>): ObjectMaterials {
  const materials = Object.entries(data)
    .map(([key, base64]) => material(`${source} ${key}`, base64))
    .filter(({ bytes, source: key }) => {
      const isPem = Buffer.from(bytes).includes('-----BEGIN ');
      return isPem || (bytes[0] === 0x30 && /\.(?:p12|pfx|der|crt|cer|crl|p7b)$/.test(key));
    });
  const notes = materials.length === 0 ? [`${source} has no certificate, request, CRL or key`] : [];
  return { materials, notes };
}

/** What is mounted into a pod: its podCertificates by their newest requests, its anchors, and its Secrets. */
async function readPod(client: Client, { name, namespace }: Subject): Promise<ObjectMaterials> {
  const pod = await client.request<Pod>({ method: 'GET', path: PODS.object({ name, namespace }) });
  const all = [
    await mountedCertificates(client, pod, namespace),
    await mountedBundles(client, pod),
    ...(await Promise.all(
      mountedSubjects(pod, namespace).map((subject) => readMounted(client, subject)),
    )),
  ];
  return {
    materials: all.flatMap(({ materials }) => materials),
    notes: all.flatMap(({ notes }) => notes),
    podIp: pod.status?.podIP,
  };
}

/** The bundles of signers: a kubelet takes those whose labels the volume selects. */
async function mountedBundles(client: Client, pod: Pod): Promise<ObjectMaterials> {
  const wanted = sourcesOf(pod).flatMap(({ clusterTrustBundle: of }) =>
    of?.signerName === undefined ? [] : [of],
  );
  if (wanted.length === 0) return { materials: [], notes: [] };
  const materials: Material[] = [];
  try {
    const [kind] = await certificatesResources(client, 'clustertrustbundles');
    await listPages({ client, path: kind.collection() }, (object) => {
      const bundle = object as unknown as ClusterTrustBundle;
      const { signerName } = bundle.spec;
      // The API: without a selector nothing is selected, by an empty one everything.
      const isMounted = wanted.some(
        (each) =>
          each.signerName === signerName &&
          each.labelSelector !== undefined &&
          selects(each.labelSelector, bundle.metadata.labels),
      );
      if (isMounted) materials.push(ofBundle(bundle));
    });
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    return { materials, notes: ['ClusterTrustBundles are mounted, but you may not list them'] };
  }
  return { materials, notes: [] };
}

function sourcesOf({ spec }: Pod): NonNullable<NonNullable<PodVolume['projected']>['sources']> {
  return (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
}

async function mountedCertificates(
  client: Client,
  pod: Pod,
  namespace: string,
): Promise<ObjectMaterials> {
  const { metadata } = pod;
  const signers = new Set(sourcesOf(pod).flatMap(({ podCertificate: of }) => of?.signerName ?? []));
  if (signers.size === 0) return { materials: [], notes: [] };
  const [kind] = await certificatesResources(client, 'podcertificaterequests');
  const requests: PodCertificateRequest[] = [];
  await listPages({ client, path: kind.collection(namespace) }, (object) => {
    const request = object as unknown as PodCertificateRequest;
    if (request.spec.podUID === metadata.uid) requests.push(request);
  });
  const found = [...signers].map((signer): ObjectMaterials => {
    const issued = requests.filter(
      (each) => each.spec.signerName === signer && (each.status?.certificateChain ?? '') !== '',
    );
    const newest = issued.sort(byAge).at(-1);
    if (newest !== undefined) return ofPcr(newest);
    const gone = `no PodCertificateRequest of ${signer} is left (the API server deletes them after 15 minutes); --port asks the pod itself`;
    return { materials: [], notes: [gone] };
  });
  return {
    materials: found.flatMap(({ materials }) => materials),
    notes: found.flatMap(({ notes }) => notes),
  };
}

function mountedSubjects({ spec }: Pod, namespace: string): readonly Subject[] {
  const names = new Map<string, Subject>();
  const add = (kind: string, name: string | undefined): void => {
    if (name !== undefined) names.set(`${kind}/${name}`, { kind, name, namespace });
  };
  for (const { secret, projected } of spec.volumes ?? []) {
    add('secret', secret?.secretName);
    for (const source of projected?.sources ?? []) {
      add('secret', source.secret?.name);
      add('ctb', source.clusterTrustBundle?.name);
    }
  }
  return [...names.values()];
}

async function readMounted(client: Client, subject: Subject): Promise<ObjectMaterials> {
  const read = subject.kind === 'ctb' ? readBundle : readSecret;
  try {
    return { ...(await read(client, subject)), notes: [] };
  } catch (error) {
    if (!(error instanceof KubeError) || ![403, 404].includes(error.status)) throw error;
    const why = error.status === 403 ? 'you may not read it' : 'it does not exist';
    return { materials: [], notes: [`${subject.kind}/${subject.name} is mounted, but ${why}`] };
  }
}

const NOT_LISTED: readonly ErrorCode[] = ['KUBE_FORBIDDEN', 'KUBE_NOT_FOUND'];

/**
 * All ClusterTrustBundles.
 *
 * @returns undefined where there are none to be listed: the API is not served, or this user may not
 * @throws KubeError of the API server
 */
export async function listBundles(client: Client): Promise<readonly NamedBundle[] | undefined> {
  const bundles: NamedBundle[] = [];
  try {
    const [kind] = await certificatesResources(client, 'clustertrustbundles');
    await listPages({ client, path: kind.collection() }, (object) => {
      const { metadata, spec } = object as unknown as ClusterTrustBundle;
      bundles.push({ name: `ctb/${metadata.name}`, pem: spec.trustBundle });
    });
  } catch (error) {
    if (!(error instanceof SignerError) || !NOT_LISTED.includes(error.code)) throw error;
    return undefined;
  }
  return bundles;
}

function material(source: string, base64: string): Material {
  return { source, bytes: Buffer.from(base64, 'base64') };
}
