// SPDX-License-Identifier: Apache-2.0
import type { PatchOperation } from '#trust/authority/apply/secret-patch.ts';
import { KubeError } from '#kube/client/kube-error.ts';

/** The object as the API server has it after a patch: RFC 6902, as far as the authority uses it. */
export function patched<T extends object>(object: T, operations: readonly PatchOperation[]): T {
  const copy = structuredClone(object) as unknown as Record<string, unknown>;
  for (const { op, path, value } of operations) {
    const parts = path
      .slice(1)
      .split('/')
      .map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = parts.pop() ?? '';
    let target = copy;
    for (const part of parts) {
      const next = target[part];
      if (typeof next !== 'object' || next === null) throw invalid(path);
      target = next as Record<string, unknown>;
    }
    if (op !== 'add' && !(last in target)) throw invalid(path);
    if (op === 'remove') Reflect.deleteProperty(target, last);
    else target[last] = value;
  }
  return copy as unknown as T;
}

function invalid(what: string): KubeError {
  return new KubeError({ status: 422, what, body: { reason: 'Invalid' } });
}
