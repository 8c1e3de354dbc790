import { AccountPage } from "@/features/session/components/account/account-page";

/** The route /admin/account: the page of the owner's own account. */
export function AccountRoute() {
  return <AccountPage />;
}
