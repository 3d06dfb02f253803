// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import type { Authority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { NOW, ca, keyIds, link, usage, type Link } from '../pki/chain.ts';

const root = link('root', { extensions: [ca(), usage(), ...keyIds('root')] });
const below = (name: string, ...more: readonly Uint8Array[]): Link =>
  link(name, { extensions: [ca(0), usage(), ...keyIds(name, 'root'), ...more], by: root });
const issuing = below('issuing');

const read = ({ certificate }: Link): X509Certificate => new X509Certificate(certificate.raw);

/** The same two for node:crypto. */
export const ROOT = read(root);
export const ISSUING = read(issuing);

/** A CA below a root, open at {@link NOW}: its Secret holds both, as people store them. */
export function openIntermediate(): Authority {
  return open(issuing);
}

/** The CA after it, below the same root. */
export function openSuccessor(): Authority {
  return open(below('successor'));
}

/** A CA that may not sign for everybody: with one more extension. */
export function openConstrained(constraint: Uint8Array): Authority {
  return open(below('constrained', constraint));
}

/** What its Secret holds. */
export function intermediateMaterial(): { readonly certificate: string; readonly key: string } {
  return materialOf(issuing);
}

function materialOf(link: Link): { readonly certificate: string; readonly key: string } {
  return {
    certificate: read(link).toString() + ROOT.toString(),
    key: link.key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function open(link: Link): Authority {
  return openLocalAuthority({ ...materialOf(link), anchors: undefined }, NOW);
}

/** The certificates of a PEM text, read by node:crypto. */
export function certificatesOf(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
