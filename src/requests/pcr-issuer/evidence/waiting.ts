// SPDX-License-Identifier: Apache-2.0

/** Requests that wait for the Services of their namespace. */
export interface WaitingForServices {
  /** @param storeKey - `namespace/name` of the request */
  add(namespace: string, storeKey: string, signerName: string): void;
  delete(namespace: string, storeKey: string): void;
  /** Removes and returns the requests of one namespace, or of all: key and signer name. */
  take(namespace?: string): readonly (readonly [storeKey: string, signerName: string])[];
}

export function createWaiting(): WaitingForServices {
  const namespaces = new Map<string, Map<string, string>>();
  return {
    add: (namespace, storeKey, signerName) => {
      const inside = namespaces.get(namespace) ?? new Map<string, string>();
      namespaces.set(namespace, inside.set(storeKey, signerName));
    },
    delete: (namespace, storeKey) => {
      const inside = namespaces.get(namespace);
      inside?.delete(storeKey);
      if (inside?.size === 0) namespaces.delete(namespace);
    },
    take: (namespace) => {
      const keys = namespace === undefined ? [...namespaces.keys()] : [namespace];
      return keys.flatMap((each) => {
        const found = [...(namespaces.get(each) ?? [])];
        namespaces.delete(each);
        return found;
      });
    },
  };
}
