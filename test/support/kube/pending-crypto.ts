// SPDX-License-Identifier: Apache-2.0
/** Counts the WebCrypto operations that run in Node's thread pool, which no fake clock holds. */

type Method = (this: typeof crypto.subtle, ...args: unknown[]) => Promise<unknown>;

let pending = 0;

/** Returns how many operations have begun and not ended. */
export function pendingCrypto(): number {
  return pending;
}

const prototype = Object.getPrototypeOf(crypto.subtle) as Record<string, unknown>;
for (const name of Object.getOwnPropertyNames(prototype)) {
  const method = prototype[name];
  if (name === 'constructor' || typeof method !== 'function') continue;
  prototype[name] = async function counted(this: typeof crypto.subtle, ...args: unknown[]) {
    pending += 1;
    try {
      return await (method as Method).apply(this, args);
    } finally {
      pending -= 1;
    }
  };
}
