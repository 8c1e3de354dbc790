import { ProductsPage } from "@/features/admin-products/components/products-page";

export function ProductsRoute() {
  return <ProductsPage />;
}
