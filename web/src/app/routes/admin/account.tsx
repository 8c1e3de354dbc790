import { AccountPage } from "@/features/session/components/account/account-page";

/** The route /admin/account. */
export function AccountRoute() {
  return <AccountPage />;
}
