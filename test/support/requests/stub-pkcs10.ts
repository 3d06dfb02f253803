// SPDX-License-Identifier: Apache-2.0
import { generateKeyPairSync, sign } from 'node:crypto';

/** ecdsa-with-SHA256 (RFC 5758 §3.2). */
const ECDSA_SHA256 = Buffer.from('300a06082a8648ce3d040302', 'hex');
/** Version 0 and an empty subject. */
const VERSION_AND_SUBJECT = Buffer.from('0201003000', 'hex');
const NO_ATTRIBUTES = Buffer.from('a000', 'hex');

/** The base64 of the empty PKCS#10 request that a kubelet sends with a new P-256 key. */
export function stubRequest(): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const info = sequence(VERSION_AND_SUBJECT, spki, NO_ATTRIBUTES);
  const signature = sign('sha256', info, privateKey);
  const bits = Buffer.from([0x03, signature.length + 1, 0]);
  return sequence(info, ECDSA_SHA256, bits, signature).toString('base64');
}

function sequence(...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length < 0x80 ? [content.length] : [0x81, content.length];
  return Buffer.concat([Buffer.from([0x30, ...length]), content]);
}
