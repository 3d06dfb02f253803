// SPDX-License-Identifier: Apache-2.0
import { resource, type Resource } from './resource.ts';

/** Kinds of Kubernetes' core group (`v1`) that more than one room reads or writes. */

export const CONFIG_MAPS = core('configmaps');
export const NAMESPACES = core('namespaces');
export const PODS = core('pods');
export const SECRETS = core('secrets');
export const SERVICE_ACCOUNTS = core('serviceaccounts');
export const SERVICES = core('services');

function core(plural: string): Resource {
  return resource({ group: '', version: 'v1', plural });
}
