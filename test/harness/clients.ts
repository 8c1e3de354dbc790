// Makes supabase-js with the rights of each role (docs/product.md, Roles and keys).
import { createClient, type SupabaseClient } from "@supabase/supabase-js";

import type { Server } from "./server.ts";

const options = { auth: { persistSession: false, autoRefreshToken: false } };

export const asAnon = (server: Server): SupabaseClient =>
  createClient(server.url, server.anonKey, options);
export const asService = (server: Server): SupabaseClient =>
  createClient(server.url, server.serviceKey, options);

export const ownerEmail = "owner@example.com";
export const ownerPassword = "a wall of whitewash";

/** Creates an owner with the command line and returns a client that is signed in as this owner. */
export async function asOwner(server: Server): Promise<SupabaseClient> {
  await server.command(["owner", "add", ownerEmail, "--password-stdin"], ownerPassword + "\n");
  const client = asAnon(server);
  const { error } = await client.auth.signInWithPassword({
    email: ownerEmail,
    password: ownerPassword,
  });
  if (error) throw error;
  return client;
}
