// SPDX-License-Identifier: Apache-2.0
/**
 * Checks of CPU and memory, which the API server would reject after the rest is installed. The
 * chart's template has the same, with these words.
 */
import { usageError } from '#base/errors.ts';
import type { ComputeResources } from '#component/descriptor.ts';
import { quantityValue } from '#kube/apply/objects/quantity.ts';
import type { InstallationValues } from './schema.ts';

/**
 * Rejects texts that are not quantities, wherever the values have them.
 *
 * @throws SignerError USAGE (`fail`), with the value and the fix
 */
export function checkQuantities({ defaults, components }: InstallationValues): void {
  throwIf(quantityFault('defaults.resources', defaults.resources));
  for (const [component, { resources, keyHolder }] of Object.entries(components)) {
    throwIf(quantityFault(`components.${component}.resources`, resources));
    throwIf(quantityFault(`components.${component}.keyHolder.resources`, keyHolder?.resources));
  }
}

/**
 * Rejects a request that is greater than its limit.
 *
 * @param resources - with the defaults
 * @throws SignerError USAGE (`fail`), with both and the fix
 */
export function checkRequests(at: string, resources: ComputeResources): void {
  throwIf(requestFault(at, resources));
}

/** Returns what is wrong with the first text that is not a quantity, and the fix. */
export function quantityFault(at: string, resources: ComputeResources = {}): string | undefined {
  for (const kind of ['requests', 'limits'] as const) {
    for (const [name, quantity] of Object.entries(resources[kind] ?? {})) {
      if ((quantityValue(quantity) ?? -1) >= 0) continue;
      return `${at}.${kind}.${name}: "${quantity}" is not a quantity; write one such as 500m, 1.5 or 256Mi`;
    }
  }
  return undefined;
}

/** Returns the first request that is greater than its limit, and the fix. */
export function requestFault(
  at: string,
  { requests = {}, limits = {} }: ComputeResources,
): string | undefined {
  for (const [name, limit] of Object.entries(limits)) {
    const request = requests[name];
    if (request === undefined) continue;
    if ((quantityValue(request) ?? 0) <= (quantityValue(limit) ?? 0)) continue;
    return `${at}: the request of ${name}, ${request}, is greater than the limit, ${limit}; write a lower requests.${name} or a higher limits.${name}`;
  }
  return undefined;
}

function throwIf(fault: string | undefined): void {
  if (fault !== undefined) throw usageError(fault);
}
