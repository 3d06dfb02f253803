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
  /** True if the pod may mount more certificates, or trust more CAs, than these. */
  readonly isPartial: boolean;
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

/**
 * Reports whether a pod neither mounts the served leaf nor knows its CA. False if no certificate or
 * CA of the pod is known, or if not all of them are.
 */
function isForeign(
  served: Material,
  { materials, bundles, isPartial, now }: PodCredentials,
): boolean {
  const [leaf, ...intermediates] = certificatesIn(served) ?? [];
  const read = materials.map(certificatesIn);
  const own = read.flatMap((each) => each ?? []);
  const anchors = [
    ...own.filter(({ isCa }) => isCa),
    ...bundles.flatMap(({ pem }) => [...publishedAnchors(pem).values()].flatMap((it) => it ?? [])),
  ];
  if (isPartial || read.includes(undefined)) return false;
  if (leaf === undefined || own.length + anchors.length === 0) return false;
  const prints = new Set(own.map(({ raw }) => fingerprint(raw)));
  if (prints.has(fingerprint(leaf.raw))) return false;
  // An expired leaf is the pod's all the same.
  const then = Math.max(leaf.notBefore, Math.min(now, leaf.notAfter));
  const path = attempt(() => verifyPath({ leaf, intermediates, anchors, now: then }));
  return path instanceof SignerError;
}

/** Matches PEM blocks that hold certificates in another form. */
const OTHER_BLOCK = /-----BEGIN (?:X509 CERTIFICATE|TRUSTED CERTIFICATE|PKCS7|CMS)-----/;

/**
 * Returns the certificates of a PEM text with any other blocks, or the one of a DER file. Undefined
 * if it may have others: a file of PKCS#7 or PKCS#12 has.
 */
function certificatesIn({ bytes }: Material): readonly Certificate[] | undefined {
  const text = Buffer.from(bytes).toString('latin1');
  if (OTHER_BLOCK.test(text)) return undefined;
  const isPem = text.includes('-----BEGIN ');
  const all = isPem ? certificateBlocks(text) : [bytes];
  const read = all.flatMap((der) => {
    const certificate = attempt(() => decodeCertificate(der));
    return certificate instanceof SignerError ? [] : [certificate];
  });
  return read.length === all.length ? read : undefined;
}
