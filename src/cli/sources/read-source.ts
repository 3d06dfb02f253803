// SPDX-License-Identifier: Apache-2.0
/** Sources that users name: a file, `-`, `https://…`, or `kind/name`. */
import { readFile } from 'node:fs/promises';
import { messageOf, usageError } from '#base/errors.ts';
import type { Material } from '#diagnose/inspect/read-material.ts';
import type { Client } from '#kube/client/client.ts';
import { subjectOf, withNamespaceHint } from '../subject.ts';
import { readerOf, type ObjectMaterials } from './cluster-objects.ts';
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
}

/** Content of a source, and whether it came from the cluster. */
export interface SourceMaterials {
  readonly materials: readonly Material[];
  readonly notes: readonly string[];
  readonly isOfCluster: boolean;
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
    return await withServed({ ...found, isOfCluster: true }, found, text, init);
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
  found: SourceMaterials,
  { podIp }: ObjectMaterials,
  text: string,
  { port, serverName }: SourceInit,
): Promise<SourceMaterials> {
  if (port === undefined) return found;
  if (podIp === undefined)
    throw usageError(`--port needs a running pod, and ${text} has no address`);
  try {
    const source = `${text} serves on ${port}`;
    const served = await servedChain({ host: podIp, port, serverName }, source);
    return { ...found, materials: [...found.materials, served] };
  } catch (error) {
    throw usageError(
      `${messageOf(error)}; where pods cannot be reached from here, type kubectl port-forward ${text} ${port}, and then countersign inspect https://localhost:${port}`,
    );
  }
}
