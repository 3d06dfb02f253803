// SPDX-License-Identifier: Apache-2.0

/** The bytes of the one block of a PEM text, as an ArrayBuffer of their own. */
export function readPem(text: string): ArrayBuffer {
  const base64 = text.split('\n').filter((line) => !line.startsWith('-----'));
  return Uint8Array.from(Buffer.from(base64.join(''), 'base64')).buffer;
}
