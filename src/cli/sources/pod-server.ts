// SPDX-License-Identifier: Apache-2.0
/** Notes on the server that answered at a pod's address, which may be another one. Pure. */
import { SignerError, attempt } from '#base/errors.ts';
import { shellWord } from '#base/quote.ts';
import type { Material } from '#diagnose/inspect/read-material.ts';
import type { NamedBundle } from '#diagnose/inspect/relations.ts';
import { decodeCertificate, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { certificateBlocks, publishedAnchors } from '#pki/x509/trust-bundle.ts';

/** A dialled port of a pod. */
export interface PodPort {
  readonly name: string;
  readonly namespace: string;
  readonly host: string;
  readonly port: number;
}

/** Known certificates of a pod. */
export interface PodCredentials {
  /** Mounted certificates and anchors. */
  readonly materials: readonly Material[];
  /** Bundles of the pod's signers. */
  readonly bundles: readonly NamedBundle[];
  /** Milliseconds. */
  readonly now: number;
}

/** Returns the commands that reach a pod through the API server. */
export function forwardingOf({ name, namespace, port }: PodPort): string {
  return `kubectl port-forward ${shellWord(`pod/${name}`)} ${port} -n ${shellWord(namespace)}, and then countersign inspect https://localhost:${port}`;
}

/** Returns notes on a served chain: the dialled address, and that it may not be the pod's. */
export function servedNotes(
  target: PodPort,
  served: Material,
  identity: PodCredentials,
): readonly string[] {
  const { host, port, name } = target;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const dialled = `the certificate that pod/${name} serves was read from ${address}, dialled from this machine; to read it through the API server, type ${forwardingOf(target)}`;
  if (!isForeign(served, identity)) return [dialled];
  return [
    dialled,
    `another server may have answered at ${address}: its certificate is none that pod/${name} mounts, and no CA of the pod or of its signers issued it`,
  ];
}

/** Reports whether a leaf has nothing to do with a pod of which certificates or CAs are known. */
function isForeign(served: Material, { materials, bundles, now }: PodCredentials): boolean {
  const [leaf, ...intermediates] = certificatesIn(served);
  const own = materials.flatMap(certificatesIn);
  const anchors = [
    ...own.filter(({ isCa }) => isCa),
    ...bundles.flatMap(({ pem }) => [...publishedAnchors(pem).values()].flatMap((it) => it ?? [])),
  ];
  if (leaf === undefined || own.length + anchors.length === 0) return false;
  const prints = new Set(own.map(({ raw }) => fingerprint(raw)));
  if (prints.has(fingerprint(leaf.raw))) return false;
  // An expired leaf is the pod's all the same.
  const then = Math.max(leaf.notBefore, Math.min(now, leaf.notAfter));
  const path = attempt(() => verifyPath({ leaf, intermediates, anchors, now: then }));
  return path instanceof SignerError;
}

/** Returns the certificates of a PEM text with any other blocks. */
function certificatesIn({ bytes }: Material): readonly Certificate[] {
  return certificateBlocks(Buffer.from(bytes).toString('latin1')).flatMap((der) => {
    const read = attempt(() => decodeCertificate(der));
    return read instanceof SignerError ? [] : [read];
  });
}
