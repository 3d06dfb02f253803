// SPDX-License-Identifier: Apache-2.0
import type { Authority, OpenAuthority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';

const opened = new Map<string, Authority>();
/** Of ten years; each holds a key. */
const MOST = 64;

/** A CA is read and checked once for its texts, and again whenever its time is over or to come. */
export const openOnce: OpenAuthority = (material, now) => {
  const key = [material.certificate, material.key, material.anchors, material.cross].join();
  const before = opened.get(key);
  if (before !== undefined && now >= before.facts.notBefore && now < before.facts.notAfter) {
    return before;
  }
  const authority = openLocalAuthority(material, now);
  if (opened.size >= MOST) opened.clear();
  opened.set(key, authority);
  return authority;
};
