// What `<type_traits>`, `<array>`, `<complex>`, `<functional>`, `<utility>` and `<cuda/atomic>` say, as far as kernels ask, and the same
// of CUTLASS; the states of cuRAND; and the views of tensors that PyTorch hands to kernels.
//
// But for `fill` and the parts of a complex number no function that is here reads or writes an element: accesses are
// where its result is used. References are not told apart from what they refer to, so nothing here asks for them; and
// `const` is known of template arguments that are written, so nothing here asks whether it is there.

// What `cudaLaunchKernelEx` is given.
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace std {

template <class T, T V> struct integral_constant {
  static constexpr T value = V;
  using value_type = T;
  using type = integral_constant<T, V>;
  constexpr operator value_type() const { return V; }
  constexpr value_type operator()() const { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;

template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;

template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;

template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;

// The alignment that is not asked for is that of libstdc++ on Linux.
template <size_t N, size_t A> struct alignas(A) aligned_bytes {
  unsigned char bytes[N];
};
template <size_t N, size_t A = 16> struct aligned_storage {
  using type = aligned_bytes<N, A>;
};
template <size_t N, size_t A = 16>
using aligned_storage_t = typename aligned_storage<N, A>::type;

template <class T> struct type_identity { using type = T; };
template <class T> using type_identity_t = T;
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> struct remove_cv { using type = T; };
template <class T> struct remove_cv<const T> { using type = T; };
template <class T> struct remove_cv<volatile T> { using type = T; };
template <class T> struct remove_cv<const volatile T> { using type = T; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_reference { using type = T; };
template <class T> using remove_reference_t = T;
template <class T> using remove_cvref = remove_cv<T>;
template <class T> using remove_cvref_t = remove_cv_t<T>;

template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct add_pointer { using type = T*; };
template <class T> using add_pointer_t = T*;

template <class T> struct remove_extent { using type = T; };
template <class T> struct remove_extent<T[]> { using type = T; };
template <class T> using remove_extent_t = typename remove_extent<T>::type;

template <class T> struct decay { using type = remove_cv_t<T>; };
template <class T> struct decay<T[]> { using type = T*; };
template <class T> using decay_t = typename decay<T>::type;

template <class T> struct make_unsigned {};
template <> struct make_unsigned<char> { using type = unsigned char; };
template <> struct make_unsigned<short> { using type = unsigned short; };
template <> struct make_unsigned<int> { using type = unsigned; };
template <> struct make_unsigned<long long> { using type = unsigned long long; };
template <> struct make_unsigned<unsigned char> { using type = unsigned char; };
template <> struct make_unsigned<unsigned short> { using type = unsigned short; };
template <> struct make_unsigned<unsigned> { using type = unsigned; };
template <> struct make_unsigned<unsigned long long> { using type = unsigned long long; };
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;

template <class T> struct make_signed {};
template <> struct make_signed<char> { using type = signed char; };
template <> struct make_signed<short> { using type = short; };
template <> struct make_signed<int> { using type = int; };
template <> struct make_signed<long long> { using type = long long; };
template <> struct make_signed<unsigned char> { using type = signed char; };
template <> struct make_signed<unsigned short> { using type = short; };
template <> struct make_signed<unsigned> { using type = int; };
template <> struct make_signed<unsigned long long> { using type = long long; };
template <class T> using make_signed_t = typename make_signed<T>::type;

template <class T> struct is_floating_point : false_type {};
template <> struct is_floating_point<float> : true_type {};
template <> struct is_floating_point<double> : true_type {};
template <class T> struct is_floating_point<const T> : is_floating_point<T> {};
template <class T> struct is_floating_point<volatile T> : is_floating_point<T> {};
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;

template <class T> struct is_integral : false_type {};
template <> struct is_integral<bool> : true_type {};
template <> struct is_integral<char> : true_type {};
template <> struct is_integral<short> : true_type {};
template <> struct is_integral<int> : true_type {};
template <> struct is_integral<long long> : true_type {};
template <> struct is_integral<unsigned char> : true_type {};
template <> struct is_integral<unsigned short> : true_type {};
template <> struct is_integral<unsigned> : true_type {};
template <> struct is_integral<unsigned long long> : true_type {};
template <class T> struct is_integral<const T> : is_integral<T> {};
template <class T> struct is_integral<volatile T> : is_integral<T> {};
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;

template <class T> struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;

template <class T> struct is_unsigned : false_type {};
template <> struct is_unsigned<bool> : true_type {};
template <> struct is_unsigned<unsigned char> : true_type {};
template <> struct is_unsigned<unsigned short> : true_type {};
template <> struct is_unsigned<unsigned> : true_type {};
template <> struct is_unsigned<unsigned long long> : true_type {};
template <class T> struct is_unsigned<const T> : is_unsigned<T> {};
template <class T> struct is_unsigned<volatile T> : is_unsigned<T> {};
template <class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> struct is_signed : bool_constant<is_arithmetic<T>::value && !is_unsigned<T>::value> {};
template <class T> inline constexpr bool is_signed_v = is_signed<T>::value;

template <class T> concept integral = is_integral_v<T>;
template <class T> concept signed_integral = is_integral_v<T> && is_signed_v<T>;
template <class T> concept unsigned_integral = is_integral_v<T> && is_unsigned_v<T>;
template <class T> concept floating_point = is_floating_point_v<T>;
template <class A, class B> concept same_as = is_same_v<A, B>;

template <class B> struct negation : bool_constant<!B::value> {};
template <class B> inline constexpr bool negation_v = !B::value;
template <class... B> struct conjunction : bool_constant<(B::value && ...)> {};
template <class... B> inline constexpr bool conjunction_v = conjunction<B...>::value;
template <class... B> struct disjunction : bool_constant<(B::value || ...)> {};
template <class... B> inline constexpr bool disjunction_v = disjunction<B...>::value;

template <class T> struct is_void : false_type {};
template <> struct is_void<void> : true_type {};
template <class T> struct is_void<const T> : is_void<T> {};
template <class T> struct is_void<volatile T> : is_void<T> {};
template <class T> inline constexpr bool is_void_v = is_void<T>::value;

template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T*> : true_type {};
template <class T> struct is_pointer<const T> : is_pointer<T> {};
template <class T> struct is_pointer<volatile T> : is_pointer<T> {};
template <class T> inline constexpr bool is_pointer_v = is_pointer<T>::value;

template <class T, T... I> struct integer_sequence {
  static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;

template <class T, size_t N> struct array {
  T elems[N];
  using value_type = T;
  __host__ __device__ constexpr T& operator[](size_t i) { return elems[i]; }
  __host__ __device__ constexpr T& at(size_t i) { return elems[i]; }
  __host__ __device__ constexpr void fill(T value) {
    for (size_t i = 0; i < N; ++i) elems[i] = value;
  }
  __host__ __device__ constexpr T& front() { return elems[0]; }
  __host__ __device__ constexpr T& back() { return elems[N - 1]; }
  __host__ __device__ constexpr T* data() { return elems; }
  __host__ __device__ constexpr T* begin() { return elems; }
  __host__ __device__ constexpr T* end() { return elems + N; }
  __host__ __device__ constexpr size_t size() { return N; }
};

template <class A, class B> struct pair { A first; B second; };
// What `<functional>` calls operators.
template <class T = void> struct plus {
  __host__ __device__ constexpr T operator()(T a, T b) const { return a + b; }
};
template <> struct plus<void> {
  template <class A, class B> __host__ __device__ constexpr auto operator()(A a, B b) const { return a + b; }
};
template <class T = void> struct minus {
  __host__ __device__ constexpr T operator()(T a, T b) const { return a - b; }
};
template <> struct minus<void> {
  template <class A, class B> __host__ __device__ constexpr auto operator()(A a, B b) const { return a - b; }
};
template <class T = void> struct multiplies {
  __host__ __device__ constexpr T operator()(T a, T b) const { return a * b; }
};
template <> struct multiplies<void> {
  template <class A, class B> __host__ __device__ constexpr auto operator()(A a, B b) const { return a * b; }
};
template <class T = void> struct divides {
  __host__ __device__ constexpr T operator()(T a, T b) const { return a / b; }
};
template <> struct divides<void> {
  template <class A, class B> __host__ __device__ constexpr auto operator()(A a, B b) const { return a / b; }
};
template <class T = void> struct modulus {
  __host__ __device__ constexpr T operator()(T a, T b) const { return a % b; }
};
template <> struct modulus<void> {
  template <class A, class B> __host__ __device__ constexpr auto operator()(A a, B b) const { return a % b; }
};
template <class T = void> struct bit_and {
  __host__ __device__ constexpr T operator()(T a, T b) const { return a & b; }
};
template <> struct bit_and<void> {
  template <class A, class B> __host__ __device__ constexpr auto operator()(A a, B b) const { return a & b; }
};
template <class T = void> struct bit_or {
  __host__ __device__ constexpr T operator()(T a, T b) const { return a | b; }
};
template <> struct bit_or<void> {
  template <class A, class B> __host__ __device__ constexpr auto operator()(A a, B b) const { return a | b; }
};
template <class T = void> struct bit_xor {
  __host__ __device__ constexpr T operator()(T a, T b) const { return a ^ b; }
};
template <> struct bit_xor<void> {
  template <class A, class B> __host__ __device__ constexpr auto operator()(A a, B b) const { return a ^ b; }
};
template <class T = void> struct logical_and {
  __host__ __device__ constexpr bool operator()(T a, T b) const { return a && b; }
};
template <> struct logical_and<void> {
  template <class A, class B> __host__ __device__ constexpr bool operator()(A a, B b) const { return a && b; }
};
template <class T = void> struct logical_or {
  __host__ __device__ constexpr bool operator()(T a, T b) const { return a || b; }
};
template <> struct logical_or<void> {
  template <class A, class B> __host__ __device__ constexpr bool operator()(A a, B b) const { return a || b; }
};
template <class T = void> struct equal_to {
  __host__ __device__ constexpr bool operator()(T a, T b) const { return a == b; }
};
template <> struct equal_to<void> {
  template <class A, class B> __host__ __device__ constexpr bool operator()(A a, B b) const { return a == b; }
};
template <class T = void> struct not_equal_to {
  __host__ __device__ constexpr bool operator()(T a, T b) const { return a != b; }
};
template <> struct not_equal_to<void> {
  template <class A, class B> __host__ __device__ constexpr bool operator()(A a, B b) const { return a != b; }
};
template <class T = void> struct less {
  __host__ __device__ constexpr bool operator()(T a, T b) const { return a < b; }
};
template <> struct less<void> {
  template <class A, class B> __host__ __device__ constexpr bool operator()(A a, B b) const { return a < b; }
};
template <class T = void> struct less_equal {
  __host__ __device__ constexpr bool operator()(T a, T b) const { return a <= b; }
};
template <> struct less_equal<void> {
  template <class A, class B> __host__ __device__ constexpr bool operator()(A a, B b) const { return a <= b; }
};
template <class T = void> struct greater {
  __host__ __device__ constexpr bool operator()(T a, T b) const { return a > b; }
};
template <> struct greater<void> {
  template <class A, class B> __host__ __device__ constexpr bool operator()(A a, B b) const { return a > b; }
};
template <class T = void> struct greater_equal {
  __host__ __device__ constexpr bool operator()(T a, T b) const { return a >= b; }
};
template <> struct greater_equal<void> {
  template <class A, class B> __host__ __device__ constexpr bool operator()(A a, B b) const { return a >= b; }
};
// Aligned as its parts are.
template <class T> struct complex {
  T re; T im;
  using value_type = T;
  __host__ __device__ constexpr T real() { return re; }
  __host__ __device__ constexpr T imag() { return im; }
  __host__ __device__ constexpr void real(T value) { re = value; }
  __host__ __device__ constexpr void imag(T value) { im = value; }
};

}  // namespace std

namespace thrust {

template <class T = void> using plus = std::plus<T>;
template <class T = void> using minus = std::minus<T>;
template <class T = void> using multiplies = std::multiplies<T>;
template <class T = void> using divides = std::divides<T>;
template <class T = void> using modulus = std::modulus<T>;
template <class T = void> using bit_and = std::bit_and<T>;
template <class T = void> using bit_or = std::bit_or<T>;
template <class T = void> using bit_xor = std::bit_xor<T>;
template <class T = void> using logical_and = std::logical_and<T>;
template <class T = void> using logical_or = std::logical_or<T>;
template <class T = void> using equal_to = std::equal_to<T>;
template <class T = void> using not_equal_to = std::not_equal_to<T>;
template <class T = void> using less = std::less<T>;
template <class T = void> using less_equal = std::less_equal<T>;
template <class T = void> using greater = std::greater<T>;
template <class T = void> using greater_equal = std::greater_equal<T>;
template <class T = void> struct maximum {
  __host__ __device__ constexpr T operator()(T a, T b) const { return a < b ? b : a; }
};
template <> struct maximum<void> {
  template <class A, class B> __host__ __device__ constexpr auto operator()(A a, B b) const { return a < b ? b : a; }
};
template <class T = void> struct minimum {
  __host__ __device__ constexpr T operator()(T a, T b) const { return b < a ? b : a; }
};
template <> struct minimum<void> {
  template <class A, class B> __host__ __device__ constexpr auto operator()(A a, B b) const { return b < a ? b : a; }
};
template <class A, class B> using pair = std::pair<A, B>;
// Aligned as a whole.
template <class T> struct alignas(sizeof(T) * 2) complex : std::complex<T> {};

}  // namespace thrust

// Of `<cuda/atomic>`: what `exec` asks for by name. The methods are not here.
namespace cuda {

inline constexpr int thread_scope_system = 0;
inline constexpr int thread_scope_device = 1;
inline constexpr int thread_scope_block = 2;
inline constexpr int thread_scope_thread = 3;

inline constexpr int memory_order_relaxed = 0;
inline constexpr int memory_order_consume = 1;
inline constexpr int memory_order_acquire = 2;
inline constexpr int memory_order_release = 3;
inline constexpr int memory_order_acq_rel = 4;
inline constexpr int memory_order_seq_cst = 5;

template <class T = void> using maximum = thrust::maximum<T>;
template <class T = void> using minimum = thrust::minimum<T>;

// Of `<cuda/pipeline>`: how many stages were committed, waited for and released. One that threads share is not followed.
template <int Scope = 0> struct pipeline { int committed; int waited; int released; };
struct make_pipeline { int committed; int waited; int released; };
template <int Scope, int Stages> struct pipeline_shared_state { long long state[Stages]; };
// Of `<cuda/barrier>`.
template <size_t Align> struct aligned_size_t {
  size_t value;
  static constexpr size_t align = Align;
  __host__ __device__ constexpr aligned_size_t(size_t size) : value(size) {}
  __host__ __device__ constexpr operator size_t() const { return value; }
};
template <int Scope = 0, class Completion = void> struct barrier { long long state; };

template <class T, int Scope = 0> struct atomic { T place; };
template <class T, int Scope = 0> struct atomic_ref { T& place; };

namespace std {

template <class T = void> using plus = thrust::plus<T>;
template <class T = void> using minus = thrust::minus<T>;
template <class T = void> using multiplies = thrust::multiplies<T>;
template <class T = void> using divides = thrust::divides<T>;
template <class T = void> using modulus = thrust::modulus<T>;
template <class T = void> using bit_and = thrust::bit_and<T>;
template <class T = void> using bit_or = thrust::bit_or<T>;
template <class T = void> using bit_xor = thrust::bit_xor<T>;
template <class T = void> using logical_and = thrust::logical_and<T>;
template <class T = void> using logical_or = thrust::logical_or<T>;
template <class T = void> using equal_to = thrust::equal_to<T>;
template <class T = void> using not_equal_to = thrust::not_equal_to<T>;
template <class T = void> using less = thrust::less<T>;
template <class T = void> using less_equal = thrust::less_equal<T>;
template <class T = void> using greater = thrust::greater<T>;
template <class T = void> using greater_equal = thrust::greater_equal<T>;
template <class A, class B> using pair = thrust::pair<A, B>;
template <class T> using complex = thrust::complex<T>;

inline constexpr int memory_order_relaxed = 0;
inline constexpr int memory_order_consume = 1;
inline constexpr int memory_order_acquire = 2;
inline constexpr int memory_order_release = 3;
inline constexpr int memory_order_acq_rel = 4;
inline constexpr int memory_order_seq_cst = 5;

template <class T> struct atomic { T place; };
template <class T> struct atomic_ref { T& place; };

}  // namespace std

namespace memory_order {

inline constexpr int relaxed = 0;
inline constexpr int consume = 1;
inline constexpr int acquire = 2;
inline constexpr int release = 3;
inline constexpr int acq_rel = 4;
inline constexpr int seq_cst = 5;

}  // namespace memory_order

namespace thread_scope {

inline constexpr int system = 0;
inline constexpr int device = 1;
inline constexpr int block = 2;
inline constexpr int thread = 3;

}  // namespace thread_scope

}  // namespace cuda

namespace cutlass {

namespace platform {

template <bool B, class T, class F> using conditional = std::conditional<B, T, F>;
template <bool B, class T, class F> using conditional_t = std::conditional_t<B, T, F>;
template <bool B, class T = void> using enable_if = std::enable_if<B, T>;
template <class A, class B> using is_same = std::is_same<A, B>;
template <class A, class B> inline constexpr bool is_same_v = std::is_same<A, B>::value;
template <class T> using remove_const = std::remove_const<T>;
template <class T> using remove_cv = std::remove_cv<T>;
template <class T> using remove_reference = std::remove_reference<T>;

}  // namespace platform

// Of elements of a byte or more.
template <class T, int N> struct Array {
  T storage[N];
  using Element = T;
  static constexpr int kElements = N;
  __host__ __device__ constexpr T& operator[](int i) { return storage[i]; }
  __host__ __device__ constexpr T& at(int i) { return storage[i]; }
  __host__ __device__ constexpr void fill(T value) {
    for (int i = 0; i < N; ++i) storage[i] = value;
  }
  __host__ __device__ constexpr void clear() { fill(T(0)); }
  __host__ __device__ constexpr T* data() { return storage; }
  __host__ __device__ constexpr int size() { return N; }
};

}  // namespace cutlass

// What cuRAND keeps of a sequence of random numbers.
struct curandStateXORWOW {
  unsigned d;
  unsigned v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandState_t = curandStateXORWOW;
using curandState = curandStateXORWOW;
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
struct curandStateMRG32k3a {
  unsigned s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
using curandStateMRG32k3a_t = curandStateMRG32k3a;

// Element types of tensors, as the macros name them that launch a kernel for each.
namespace c10 {

struct alignas(2) Half { unsigned short x; };
struct alignas(2) BFloat16 { unsigned short x; };
struct alignas(1) Float8_e4m3fn { unsigned char x; };
struct alignas(1) Float8_e5m2 { unsigned char x; };
template <class T> struct alignas(sizeof(T) * 2) complex { T real_; T imag_; };

enum class ScalarType {
  Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8,
  QInt32, BFloat16, QUInt4x2, QUInt2x4, Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16, Float8_e5m2, Float8_e4m3fn
};

constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte, kU8 = ScalarType::Byte;
constexpr ScalarType kChar = ScalarType::Char, kInt8 = ScalarType::Char, kI8 = ScalarType::Char;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = ScalarType::Short, kI16 = ScalarType::Short;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = ScalarType::Int, kI32 = ScalarType::Int;
constexpr ScalarType kLong = ScalarType::Long, kInt64 = ScalarType::Long, kI64 = ScalarType::Long;
constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = ScalarType::Half, kF16 = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float, kF32 = ScalarType::Float;
constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = ScalarType::Double, kF64 = ScalarType::Double;
constexpr ScalarType kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat, kComplexDouble = ScalarType::ComplexDouble;
constexpr ScalarType kFloat8_e4m3fn = ScalarType::Float8_e4m3fn, kFloat8_e5m2 = ScalarType::Float8_e5m2;

template <ScalarType> struct ScalarTypeToCPPType;
template <> struct ScalarTypeToCPPType<ScalarType::Byte> { using type = unsigned char; };
template <> struct ScalarTypeToCPPType<ScalarType::Char> { using type = signed char; };
template <> struct ScalarTypeToCPPType<ScalarType::Short> { using type = short; };
template <> struct ScalarTypeToCPPType<ScalarType::Int> { using type = int; };
template <> struct ScalarTypeToCPPType<ScalarType::Long> { using type = long; };
template <> struct ScalarTypeToCPPType<ScalarType::Half> { using type = Half; };
template <> struct ScalarTypeToCPPType<ScalarType::Float> { using type = float; };
template <> struct ScalarTypeToCPPType<ScalarType::Double> { using type = double; };
template <> struct ScalarTypeToCPPType<ScalarType::ComplexFloat> { using type = complex<float>; };
template <> struct ScalarTypeToCPPType<ScalarType::ComplexDouble> { using type = complex<double>; };
template <> struct ScalarTypeToCPPType<ScalarType::Bool> { using type = bool; };
template <> struct ScalarTypeToCPPType<ScalarType::BFloat16> { using type = BFloat16; };
template <> struct ScalarTypeToCPPType<ScalarType::Float8_e4m3fn> { using type = Float8_e4m3fn; };
template <> struct ScalarTypeToCPPType<ScalarType::Float8_e5m2> { using type = Float8_e5m2; };

}  // namespace c10

// What a kernel is given of a tensor: sizes and strides are the same for all threads, elements lie in global memory. No
// view is made in a kernel but as a part of another.
namespace at {

template <class T> struct DefaultPtrTraits { using PtrType = T*; };
template <class T> struct RestrictPtrTraits { using PtrType = T*; };

template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits, class index_t = long long>
struct TensorAccessorBase {
  using PtrType = typename PtrTraits<T>::PtrType;
  PtrType data_;
  index_t* sizes_;
  index_t* strides_;
  __host__ __device__ index_t size(index_t i) { return sizes_[i]; }
  __host__ __device__ index_t stride(index_t i) { return strides_[i]; }
  __host__ __device__ PtrType data() { return data_; }
};

template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits, class index_t = long long>
struct TensorAccessor : TensorAccessorBase<T, N, PtrTraits, index_t> {
  __host__ __device__ TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) {
    TensorAccessor<T, N - 1, PtrTraits, index_t> part;
    part.data_ = this->data_ + this->strides_[0] * i;
    part.sizes_ = this->sizes_ + 1;
    part.strides_ = this->strides_ + 1;
    return part;
  }
};
template <class T, template <class U> class PtrTraits, class index_t>
struct TensorAccessor<T, 1, PtrTraits, index_t> : TensorAccessorBase<T, 1, PtrTraits, index_t> {
  __host__ __device__ T& operator[](index_t i) { return this->data_[this->strides_[0] * i]; }
};

template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits, class index_t = long long>
struct GenericPackedTensorAccessorBase {
  using PtrType = typename PtrTraits<T>::PtrType;
  PtrType data_;
  index_t sizes_[N];
  index_t strides_[N];
  __host__ __device__ index_t size(index_t i) { return sizes_[i]; }
  __host__ __device__ index_t stride(index_t i) { return strides_[i]; }
  __host__ __device__ PtrType data() { return data_; }
};

template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits, class index_t = long long>
struct GenericPackedTensorAccessor : GenericPackedTensorAccessorBase<T, N, PtrTraits, index_t> {
  __host__ __device__ TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) {
    TensorAccessor<T, N - 1, PtrTraits, index_t> part;
    part.data_ = this->data_ + this->strides_[0] * i;
    part.sizes_ = this->sizes_ + 1;
    part.strides_ = this->strides_ + 1;
    return part;
  }
};
template <class T, template <class U> class PtrTraits, class index_t>
struct GenericPackedTensorAccessor<T, 1, PtrTraits, index_t> : GenericPackedTensorAccessorBase<T, 1, PtrTraits, index_t> {
  __host__ __device__ T& operator[](index_t i) { return this->data_[this->strides_[0] * i]; }
};

template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits, class index_t = long long>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, PtrTraits, index_t>;
template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int>;
template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, long long>;

}  // namespace at
