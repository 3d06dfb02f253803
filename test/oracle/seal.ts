// SPDX-License-Identifier: Apache-2.0
import { sign, type KeyObject } from 'node:crypto';
import { encodeTree, type Node } from './tree.ts';

/** Signs the first part of a request or a certificate again, whatever was changed in it. */
export function seal(root: Node, key: KeyObject): void {
  const [covered, , signature] = root.children ?? [];
  if (covered === undefined || signature === undefined) return;
  delete signature.children;
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  signature.content = Buffer.concat([Uint8Array.of(0), sign(digest, encodeTree(covered), key)]);
}
