import { AccountPage } from "@/features/session/components/account/account-page";

export function AccountRoute() {
  return <AccountPage />;
}
