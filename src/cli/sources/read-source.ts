// SPDX-License-Identifier: Apache-2.0
/** Sources that users name: a file, `-`, `https://…`, or `kind/name`. */
import { readFile } from 'node:fs/promises';
import { messageOf, usageError } from '#base/errors.ts';
import type { Material } from '#diagnose/inspect/read-material.ts';
import type { Client } from '#kube/client/client.ts';
import { subjectOf, withNamespaceHint } from '../subject.ts';
import type { Subject } from '#diagnose/explain/lookup/reading.ts';
import { listBundles, readConfigMaps, readerOf, type ObjectMaterials } from './cluster-objects.ts';
import { forwardingOf, servedNotes, type PodPort } from './pod-server.ts';
import { servedChain } from './served.ts';

/** Options for reading sources. */
export interface SourceInit {
  readonly namespace: string;
  /** Connects before the first object of the cluster is read. */
  readonly connect: () => Promise<Client>;
  /** Server name for TLS servers, in place of the host of the URL. */
  readonly serverName?: string | undefined;
  /** Port of a pod whose server certificate is read. */
  readonly port?: number | undefined;
  /** Lists the ClusterTrustBundles, for a caller that needs them as well. */
  readonly listed?: () => ReturnType<typeof listBundles>;
}

/** Content of a source, and whether it came from the cluster. */
export interface SourceMaterials {
  readonly materials: readonly Material[];
  readonly notes: readonly string[];
  readonly isOfCluster: boolean;
  readonly request?: ObjectMaterials['request'];
}

const HTTPS_PORT = 443;

/**
 * Reads one source.
 *
 * @throws SignerError USAGE for an unreadable source, or KubeError of the API server
 */
export async function readSource(text: string, init: SourceInit): Promise<SourceMaterials> {
  if (text.startsWith('https://')) return { ...(await ofUrl(text, init)), isOfCluster: false };
  const reader = readerOf(/^([a-z]+)\//i.exec(text)?.[1] ?? '');
  if (reader === undefined) {
    const material = { source: text === '-' ? 'stdin' : text, bytes: await bytesOf(text) };
    return { materials: [material], notes: [], isOfCluster: false };
  }
  const subject = subjectOf(text, init.namespace);
  const client = await init.connect();
  try {
    const found = await reader(client, subject);
    return { ...(await withServed(found, client, subject, init)), isOfCluster: true };
  } catch (error) {
    throw await withNamespaceHint(error, subject, client);
  }
}

async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    // Read stdin by its device, as other tools do.
    return await readFile(file === '-' ? '/dev/stdin' : file);
  } catch (error) {
    throw usageError(
      `${file} cannot be read: ${messageOf(error)}; name a file, - for stdin, https://HOST, or one of csr/, pcr/, certificaterequest/, ctb/, secret/, configmap/ and pod/ with a name`,
    );
  }
}

async function ofUrl(
  text: string,
  init: SourceInit,
): Promise<Omit<SourceMaterials, 'isOfCluster'>> {
  const url = URL.parse(text);
  if (url === null) throw usageError(`${text} is not a URL`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isName = !/^[\d.]+$|:/.test(host);
  const serverName = init.serverName ?? (isName ? host : undefined);
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  return { materials: [await servedChain({ host, port, serverName }, text)], notes: [] };
}

async function withServed(
  found: ObjectMaterials,
  client: Client,
  { kind, name, namespace }: Subject,
  { port, serverName, listed = () => listBundles(client) }: SourceInit,
): Promise<ObjectMaterials> {
  if (port === undefined) return found;
  const { podIp: host, podSigners = [], materials, notes } = found;
  const text = `${kind}/${name}`;
  if (host === undefined)
    throw usageError(`--port needs a running pod, and ${text} has no address`);
  const target: PodPort = { name, namespace, host, port };
  const served = await readServed(target, `${text} serves on ${port}`, serverName);
  const [all = [], configMaps] = await Promise.all([listed(), readConfigMaps(client, found)]);
  const bundles = all.filter(({ signer = '' }) => podSigners.includes(signer));
  const onServer = servedNotes(target, served, {
    materials: [...materials, ...configMaps.materials],
    bundles,
    isPartial:
      found.isPartial === true ||
      configMaps.isPartial === true ||
      !podSigners.every((each) => bundles.some(({ signer }) => signer === each)),
    now: Date.now() - client.clockOffset(),
  });
  return { ...found, materials: [...materials, served], notes: [...notes, ...onServer] };
}

async function readServed(
  target: PodPort,
  source: string,
  serverName: string | undefined,
): Promise<Material> {
  try {
    return await servedChain({ host: target.host, port: target.port, serverName }, source);
  } catch (error) {
    throw usageError(
      `${messageOf(error)}; where pods cannot be reached from here, type ${forwardingOf(target)}`,
    );
  }
}
