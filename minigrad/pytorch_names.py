"""Every public name of PyTorch 2.13.0: data, written by `python -m tools.pytorch_names`.

By place (without `torch.`), each name, with its arguments in brackets. After a colon, the types of an argument, where PyTorch
gives them: T a Tensor, N a number, I an integer, B a bool, S a string, L several numbers or tensors, D a dtype, O anything.
What follows `*` is given by name only. `missing.py` reads this file.
"""

NAMES = {
    "torch": """
AVG AcceleratorError AggregationType AliasDb AnyType Argument ArgumentSpec AwaitType
BFloat16Storage(*,wrap_storage,dtype,device) BFloat16Tensor BenchmarkConfig BenchmarkExecutionStats Block
BoolStorage(*,wrap_storage,dtype,device) BoolTensor BoolType BufferDict ByteStorage(*,wrap_storage,dtype,device)
ByteTensor CallStack Capsule CharStorage(*,wrap_storage,dtype,device) CharTensor ClassType Code CompilationUnit
CompleteArgumentSpec ComplexDoubleStorage(*,wrap_storage,dtype,device)
ComplexFloatStorage(*,wrap_storage,dtype,device) ComplexType ConcreteModuleType ConcreteModuleTypeBuilder
DeepCopyMemoTable DeserializationStorageContext DeviceObjType DictType DisableTorchFunction
DisableTorchFunctionSubclass DispatchKey DispatchKeySet DoubleStorage(*,wrap_storage,dtype,device) DoubleTensor
EnumType ErrorReport Event ExcludeDispatchKeyGuard ExecutionPlan FatalError FileCheck
FloatStorage(*,wrap_storage,dtype,device) FloatTensor FloatType FunctionSchema Future FutureType Generator
GradScaler(device,init_scale,growth_factor,backoff_factor,growth_interval,enabled) Gradient Graph GraphExecutorState
HalfStorage(*,wrap_storage,dtype,device) HalfTensor IODescriptor InferredType IntStorage(*,wrap_storage,dtype,device)
IntTensor IntType InterfaceType JITException ListType LiteScriptModule LockingLogger LoggerBase
LongStorage(*,wrap_storage,dtype,device) LongTensor ModuleDict Node NoneType NoopLogger NumberType OperatorInfo
OptionalType OutOfMemoryError PRIVATE_OPS ParameterDict PyObjectType PyTorchFileReader PyTorchFileWriter
QInt32Storage(*,wrap_storage,dtype,device) QInt8Storage(*,wrap_storage,dtype,device)
QUInt2x4Storage(*,wrap_storage,dtype,device) QUInt4x2Storage(*,wrap_storage,dtype,device)
QUInt8Storage(*,wrap_storage,dtype,device) RRefType SUM ScriptClass ScriptClassFunction ScriptDict ScriptDictIterator
ScriptDictKeyIterator ScriptFunction ScriptList ScriptListIterator ScriptMethod ScriptModule ScriptModuleSerializer
ScriptObject ScriptObjectProperty SerializationStorageContext ShortStorage(*,wrap_storage,dtype,device) ShortTensor
Size(iterable) StaticModule Storage(*,wrap_storage,dtype,device) StorageBase Stream StreamObjType StringType
SymBool(node) SymBoolType SymFloat(node) SymInt(node) SymIntType TYPE_CHECKING Tag Tensor TensorType
ThroughputBenchmark TracingState TupleType Type TypedStorage(*,wrap_storage,dtype,device) USE_GLOBAL_DEPS
USE_RTLD_GLOBAL_WITH_LIBTORCH UnionType UntypedStorage Use Value abs(input:T,*,out:T) abs_(input:T)
absolute(input:T,*,out:T) accelerator acos(input:T,*,out:T) acos_(input:T) acosh(input:T,*,out:T) acosh_(input:T)
adaptive_avg_pool1d(input:T,output_size:IL) adaptive_max_pool1d(input:T,output_size:IL)
add(input:NT,other:NT,*,alpha:N,out:T) addbmm(beta:N,alpha:N,batch1:T,batch2:T,*,out:T,input:T)
addcdiv(value:N,tensor1:T,tensor2:T,*,out:T,input:T) addcmul(value:N,tensor1:T,tensor2:T,*,out:T,input:T)
addmm(beta:N,alpha:N,mat1:T,mat2:T,*,out:T,input:T,out_dtype:D) addmv(beta:N,alpha:N,mat:T,vec:T,*,out:T,input:T)
addmv_(beta:N,alpha:N,mat:T,vec:T,*,input:T) addr(beta:N,alpha:N,vec1:T,vec2:T,*,out:T,input:T) adjoint(input:T)
affine_grid_generator(theta:T,size:L,align_corners:B) alias_copy(input:T,*,out:T)
all(input:T,dim:IL,keepdim:B,*,out:T) allclose(input:T,other:T,rtol:N,atol:N,equal_nan:B)
alpha_dropout(input:T,p:N,train:B) alpha_dropout_(input:T,p:N,train:B) amax(input:T,dim:IL,keepdim:B,*,out:T)
amin(input:T,dim:IL,keepdim:B,*,out:T) aminmax(input:T,*,dim:I,keepdim:B,out:LT) amp angle(input:T,*,out:T)
any(input:T,dim:IL,keepdim:B,*,out:T) ao
arange(start:N,end:N,step:N,*,out:T,dtype:D,device:O,requires_grad:B,pin_memory:B,layout:O) arccos(input:T,*,out:T)
arccos_(input:T) arccosh(input:T,*,out:T) arccosh_(input:T) arcsin(input:T,*,out:T) arcsin_(input:T)
arcsinh(input:T,*,out:T) arcsinh_(input:T) arctan(input:T,*,out:T) arctan2(input:T,other:T,*,out:T) arctan_(input:T)
arctanh(input:T,*,out:T) arctanh_(input:T) are_deterministic_algorithms_enabled()
argmax(input:T,dim:I,keepdim:B,*,out:T) argmin(input:T,dim:I,keepdim:B,*,out:T)
argsort(input:T,dim:I,descending:B,*,stable:B,out:T) argwhere(input:T)
as_strided(input:T,size:L,stride:L,storage_offset:I) as_strided_(input:T,size:L,stride:L,storage_offset:I)
as_strided_copy(input:T,size:L,stride:L,storage_offset:I,*,out:T)
as_strided_scatter(input:T,src:T,size:L,stride:L,storage_offset:I) as_tensor(data:O,dtype:D,device:O)
asarray(obj:O,*,dtype:D,device:O,copy:B,requires_grad:B) asin(input:T,*,out:T) asin_(input:T) asinh(input:T,*,out:T)
asinh_(input:T) atan(input:T,*,out:T) atan2(input:T,other:T,*,out:T) atan_(input:T) atanh(input:T,*,out:T)
atanh_(input:T) atleast_1d() atleast_2d() atleast_3d() autocast(device_type,dtype,enabled,cache_enabled)
autocast_decrement_nesting autocast_increment_nesting autograd
avg_pool1d(input:T,kernel_size:IL,stride:IL,padding:IL,ceil_mode:B,count_include_pad:B) backends
baddbmm(beta:N,alpha:N,batch1:T,batch2:T,*,out:T,input:T,out_dtype:D)
bartlett_window(window_length:I,periodic:B,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
batch_norm(input:T,weight:T,bias:T,running_mean:T,running_var:T,training:B,momentum:N,eps:N,cudnn_enabled:B)
batch_norm_backward_elemt(grad_out:T,input:T,mean:T,invstd:T,weight:T,sum_dy:T,sum_dy_xmu:T,count:T)
batch_norm_backward_reduce(grad_out:T,input:T,mean:T,invstd:T,weight:T,input_g:B,weight_g:B,bias_g:B)
batch_norm_elemt(input:T,weight:T,bias:T,mean:T,invstd:T,eps:N,*,out:T)
batch_norm_gather_stats(input:T,mean:T,invstd:T,running_mean:T,running_var:T,momentum:N,eps:N,count:I)
batch_norm_gather_stats_with_counts(input:T,mean:T,invstd:T,running_mean:T,running_var:T,momentum:N,eps:N,counts:T)
batch_norm_stats(input:T,eps:N) batch_norm_update_stats(input:T,running_mean:T,running_var:T,momentum:N)
bernoulli(input:T,p:N,*,generator:O,out:T) bfloat16 bilinear(input1:T,input2:T,weight:T,bias:T)
binary_cross_entropy_with_logits(input:T,target:T,weight:T,pos_weight:T,reduction:I)
bincount(input:T,weights:T,minlength:I) binomial(count:T,prob:T,generator:O) bit bits16 bits1x8 bits2x4 bits4x2 bits8
bitwise_and(input:T,other:NT,*,out:T) bitwise_left_shift(input:T,other:NT,*,out:T) bitwise_not(input:T,*,out:T)
bitwise_or(input:T,other:NT,*,out:T) bitwise_right_shift(input:T,other:NT,*,out:T)
bitwise_xor(input:T,other:NT,*,out:T)
blackman_window(window_length:I,periodic:B,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B) block_diag()
bmm(input:T,mat2:T,out_dtype:D,*,out:T) bool broadcast_shapes() broadcast_tensors() broadcast_to(input:T,size:L)
bucketize(input:T,boundaries:T,*,out_int32:B,right:B,out:T) can_cast(from_:D,to:D) cartesian_prod()
cat(tensors:L,dim:I,*,out:T) ccol_indices_copy(input:T,*,out:T) cdist(x1,x2,p,compute_mode) cdouble
ceil(input:T,*,out:T) ceil_(input:T) celu(input:T,alpha:N) celu_(input:T,alpha:N) cfloat chain_matmul(*,out) chalf
channel_shuffle(input:T,groups:I) channels_last channels_last_3d cholesky(input:T,upper:B,*,out:T)
cholesky_inverse(input:T,upper:B,*,out:T) cholesky_solve(input:T,input2:T,upper:B,*,out:T)
choose_qparams_optimized(input:T,numel:I,n_bins:I,ratio:N,bit_width:I) chunk(input:T,chunks:I,dim:I)
clamp(input:T,min:NT,max:NT,*,out:T) clamp_(input:T,min:NT,max:NT) clamp_max(input:T,max:NT,*,out:T)
clamp_max_(input:T,max:NT) clamp_min(input:T,min:NT,*,out:T) clamp_min_(input:T,min:NT) classes classproperty(func)
clear_autocast_cache clip(input:T,min:NT,max:NT,*,out:T) clip_(input:T,min:NT,max:NT) clone(input:T,*,memory_format:O)
col_indices_copy(input:T,*,out:T) column_stack(tensors:L,*,out:T) combinations(input:T,r:I,with_replacement:B)
compile(model,*,fullgraph,dynamic,backend,mode,options,name,disable,recompile_limit,isolate_recompiles,shapes_spec)
compiled_with_cxx11_abi() compiler complex(real:T,imag:T,*,out:T) complex128 complex32 complex64
concat(tensors:L,dim:I,*,out:T) concatenate(tensors:L,dim:I,*,out:T) cond(pred,true_fn,false_fn,operands)
conj(input:T) conj_physical(input:T,*,out:T) conj_physical_(input:T) constant_pad_nd(input:T,pad:L,value:N)
contiguous_format contrib conv1d(input:T,weight:T,bias:T,stride:IL,padding:ILS,dilation:IL,groups:I)
conv2d(input:T,weight:T,bias:T,stride:IL,padding:ILS,dilation:IL,groups:I)
conv3d(input:T,weight:T,bias:T,stride:IL,padding:ILS,dilation:IL,groups:I) conv_tbc(input:T,weight:T,bias:T,pad:I)
conv_transpose1d(input:T,weight:T,bias:T,stride:IL,padding:IL,output_padding:IL,groups:I,dilation:IL)
conv_transpose2d(input:T,weight:T,bias:T,stride:IL,padding:IL,output_padding:IL,groups:I,dilation:IL)
conv_transpose3d(input:T,weight:T,bias:T,stride:IL,padding:IL,output_padding:IL,groups:I,dilation:IL)
convolution(input:T,weight:T,bias:T,stride:L,padding:L,dilation:L,transposed:B,output_padding:L,groups:I)
copysign(input:T,other:NT,*,out:T) corrcoef(input:T) cos(input:T,*,out:T) cos_(input:T) cosh(input:T,*,out:T)
cosh_(input:T) cosine_embedding_loss(input1:T,input2:T,target:T,margin:N,reduction:I)
cosine_similarity(x1:T,x2:T,dim:I,eps:N) count_nonzero(input:T,dim:IL)
cov(input:T,*,correction:I,fweights:T,aweights:T) cpp cpu cross(input:T,other:T,dim:I,*,out:T)
crow_indices_copy(input:T,*,out:T)
ctc_loss(log_probs:T,targets:T,input_lengths:LT,target_lengths:LT,blank:I,reduction:I,zero_infinity:B) cuda
cudnn_affine_grid_generator(theta:T,N:I,C:I,H:I,W:I)
cudnn_batch_norm(input:T,weight:T,bias:T,running_mean:T,running_var:T,training:B,exponential_average_factor:N,epsilon:N,*,out:LT)
cudnn_convolution(input:T,weight:T,padding:L,stride:L,dilation:L,groups:I,benchmark:B,deterministic:B,allow_tf32:B,*,out:T)
cudnn_convolution_add_relu(input:T,weight:T,z:T,alpha:N,bias:T,stride:L,padding:L,dilation:L,groups:I)
cudnn_convolution_relu(input:T,weight:T,bias:T,stride:L,padding:L,dilation:L,groups:I)
cudnn_convolution_transpose(input:T,weight:T,padding:L,output_padding:L,stride:L,dilation:L,groups:I,benchmark:B,deterministic:B,allow_tf32:B)
cudnn_grid_sampler(input:T,grid:T) cudnn_is_acceptable(input:T) cummax(input:T,dim:I,*,out:LT)
cummin(input:T,dim:I,*,out:LT) cumprod(input:T,dim:I,*,dtype:D,out:T) cumsum(input:T,dim:I,*,dtype:D,out:T)
cumulative_trapezoid(y:T,x:T,*,dim:I,dx:N) default_generator deg2rad(input:T,*,out:T) deg2rad_(input:T)
dequantize(input:T,*,tensors:L) det(input:T) detach(input:T) detach_(input:T) detach_copy(input:T,*,out:T) device
diag(input:T,diagonal:I,*,out:T) diag_embed(input:T,offset:I,dim1:I,dim2:I) diagflat(input:T,offset:I)
diagonal(input:T,offset:I,dim1:I,dim2:I) diagonal_copy(input:T,offset:I,dim1:I,dim2:I,*,out:T)
diagonal_scatter(input:T,src:T,offset:I,dim1:I,dim2:I) diff(input:T,n:I,dim:I,prepend:T,append:T,*,out:T)
digamma(input:T,*,out:T) dist(input:T,other:T,p:N) distributed distributions
div(input:NT,other:NT,*,rounding_mode:S,out:T) divide(input:T,other:NT,*,out:T,rounding_mode:S)
dot(input:T,tensor:T,*,out:T) double dropout(input:T,p:N,train:B) dropout_(input:T,p:N,train:B) dsmm(input:T,mat2:T)
dsplit(input:T,sections:I,*,indices:L) dstack(tensors:L,*,out:T) dtype() e eig(eigenvectors,*,e,v) einsum()
embedding(weight:T,indices:T,padding_idx:I,scale_grad_by_freq:B,sparse:B)
embedding_bag(weight:T,indices:T,offsets:T,scale_grad_by_freq:B,mode:I,sparse:B,per_sample_weights:T,include_last_offset:B,padding_idx:I)
embedding_renorm_(input:T,indices:T,max_norm:N,norm_type:N)
empty(size:L,*,memory_format:O,out:T,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
empty_like(input:T,*,memory_format:O,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
empty_permuted(size:L,physical_layout:L,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
empty_quantized(size:L,qtensor:T,*,memory_format:O,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
empty_strided(size:L,stride:L,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B) enable_grad(orig_func)
eq(input:T,other:NT,*,out:T) equal(input:T,other:T) erf(input:T,*,out:T) erf_(input:T) erfc(input:T,*,out:T)
erfc_(input:T) erfinv(input:T,*,out:T) exp(input:T,*,out:T) exp2(input:T,*,out:T) exp2_(input:T) exp_(input:T)
expand_copy(input:T,size:L,*,implicit:B,out:T) expm1(input:T,*,out:T) expm1_(input:T) export
eye(n:I,m:I,*,out:T,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
fake_quantize_per_channel_affine(input:T,scale:T,zero_point:T,axis:I,quant_min:I,quant_max:I)
fake_quantize_per_tensor_affine(input:T,scale:NT,zero_point:IT,quant_min:I,quant_max:I)
fbgemm_linear_fp16_weight(input:T,packed_weight:T,bias:T,output:T)
fbgemm_linear_fp16_weight_fp32_activation(input:T,packed_weight:T,bias:T,output:T)
fbgemm_linear_int8_weight(input:T,weight:T,packed:T,col_offsets:T,weight_scale:N,weight_zero_point:N,bias:T)
fbgemm_linear_int8_weight_fp32_activation(input:T,weight:T,packed:T,col_offsets:T,weight_scale:N,weight_zero_point:N,bias:T)
fbgemm_linear_quantize_weight(input:T) fbgemm_pack_gemm_matrix_fp16(input:T)
fbgemm_pack_quantized_matrix(input:T,K:I,N:I) feature_alpha_dropout(input:T,p:N,train:B)
feature_alpha_dropout_(input:T,p:N,train:B) feature_dropout(input:T,p:N,train:B) feature_dropout_(input:T,p:N,train:B)
fft fill(input:T,value:NT) fill_(input:T,value:NT) finfo fix(input:T,*,out:T) fix_(input:T)
flatten(input:T,start_dim:I,end_dim:I) flip(input:T,dims:L) fliplr(input:T) flipud(input:T) float float16 float32
float4_e2m1fn_x2 float64 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu
float_power(input:T,exponent:NT,*,out:T) floor(input:T,*,out:T) floor_(input:T)
floor_divide(input:NT,other:NT,*,out:T) fmax(input:T,other:T,*,out:T) fmin(input:T,other:T,*,out:T)
fmod(input:T,other:NT,*,out:T) fork frac(input:T,*,out:T) frac_(input:T) frexp(input:T,*,out:LT)
frobenius_norm(input:T,dim:IL,keepdim:B,*,out:T) from_dlpack(ext_tensor,*,device,copy)
from_file(filename:S,shared:B,size:I,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B) from_numpy(ndarray)
frombuffer(buffer:O,*,dtype:D,count:I,offset:I,requires_grad:B)
full(size:L,fill_value:N,*,out:T,layout:O,dtype:D,device:O,requires_grad:B,pin_memory:B,names:L)
full_like(input:T,fill_value:N,*,memory_format:O,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B) func
functional
fused_moving_avg_obs_fake_quant(input:T,observer_on:T,fake_quant_on:T,running_min:T,running_max:T,scale:T,zero_point:T,averaging_const:N,quant_min:I,quant_max:I,ch_axis:I,per_row_fake_quant:B,symmetric_quant:B)
futures fx gather(input:T,dim:I,index:T,*,sparse_grad:B,out:T) gcd(input:T,other:T,*,out:T) gcd_(input:T,other:T)
ge(input:T,other:NT,*,out:T) geqrf(input:T,*,out:LT) ger(input:T,vec2:T,*,out:T) get_autocast_cpu_dtype
get_autocast_dtype(device_type:S) get_autocast_gpu_dtype get_autocast_ipu_dtype get_autocast_xla_dtype
get_default_device() get_default_dtype() get_deterministic_debug_mode() get_device(input:T) get_device_module(device)
get_file_path() get_float32_matmul_precision() get_num_interop_threads() get_num_threads() get_rng_state()
gradient(input:T,*,spacing:LN,dim:IL,edge_order:I) greater(input:T,other:NT,*,out:T)
greater_equal(input:T,other:NT,*,out:T)
grid_sampler(input:T,grid:T,interpolation_mode:I,padding_mode:I,align_corners:B)
grid_sampler_2d(input:T,grid:T,interpolation_mode:I,padding_mode:I,align_corners:B)
grid_sampler_3d(input:T,grid:T,interpolation_mode:I,padding_mode:I,align_corners:B)
group_norm(input:T,num_groups:I,weight:T,bias:T,eps:N,cudnn_enabled:B)
gru(data:T,batch_sizes:T,hx:T,params:L,has_biases:B,num_layers:I,dropout:N,train:B,bidirectional:B,*,input:T,batch_first:B)
gru_cell(input:T,hx:T,w_ih:T,w_hh:T,b_ih:T,b_hh:T) gt(input:T,other:NT,*,out:T) half
hamming_window(window_length:I,periodic:B,alpha:N,beta:N,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
hann_window(window_length:I,periodic:B,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
hardshrink(input:T,lambd:N,*,out:T) has_lapack has_mkl has_openmp has_spectral
hash_tensor(input:T,dim:IL,*,keepdim:B,mode:I,out:T) heaviside(input:T,values:T,*,out:T)
hinge_embedding_loss(input:T,target:T,margin:N,reduction:I) histc(input:T,bins:I,min:N,max:N,*,out:T)
histogram(input:T,bins:IT,*,weight:T,density:B,out:LT,range:L) histogramdd(input:T,bins:IL,range:L,weight:T,density:B)
hsmm(input:T,mat2:T) hsplit(input:T,sections:I,*,indices:L) hspmm(mat1:T,mat2:T,*,out:T) hstack(tensors:L,*,out:T) hub
hypot(input:T,other:T,*,out:T) i0(input:T,*,out:T) i0_(input:T) igamma(input:T,other:T,*,out:T)
igammac(input:T,other:T,*,out:T) iinfo imag(input:T) import_ir_module import_ir_module_from_buffer
index_add(input:T,dim:I,index:T,source:T,*,alpha:N,out:T) index_copy(input:T,dim:I,index:T,source:T,*,out:T)
index_fill(input:T,dim:I,index:T,value:NT) index_put(input:T,indices:L,values:T,accumulate:B)
index_put_(input:T,indices:L,values:T,accumulate:B)
index_reduce(input:T,dim:I,index:T,source:T,reduce:S,*,include_self:B,out:T)
index_select(input:T,dim:I,index:T,*,out:T) indices_copy(input:T,*,out:T) inf inference_mode(mode) init_num_threads()
initial_seed() inner(input:T,other:T,*,out:T)
instance_norm(input:T,weight:T,bias:T,running_mean:T,running_var:T,use_input_stats:B,momentum:N,eps:N,cudnn_enabled:B)
int int1 int16 int2 int3 int32 int4 int5 int6 int64 int7 int8 int_repr(input:T) inverse(input:T,*,out:T)
is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_cache_enabled is_autocast_cpu_enabled()
is_autocast_enabled() is_autocast_ipu_enabled is_autocast_xla_enabled is_complex(input:T) is_conj(input:T)
is_deterministic_algorithms_warn_only_enabled() is_distributed(input:T) is_floating_point(input:T) is_grad_enabled()
is_inference(input:T) is_inference_mode_enabled() is_neg(input:T) is_nonzero(input:T) is_same_size(input:T,other:T)
is_signed(input:T) is_storage(obj) is_tensor(obj) is_vulkan_available() is_warn_always_enabled()
isclose(input:T,other:T,rtol:N,atol:N,equal_nan:B) isfinite(input:T)
isin(elements:T,test_elements:T,*,assume_unique:B,invert:B,out:T,element:N,test_element:N) isinf(input:T)
isnan(input:T) isneginf(input:T,*,out:T) isposinf(input:T,*,out:T) isreal(input:T)
istft(input:T,n_fft:I,hop_length:I,win_length:I,window:T,center:B,normalized:B,onesided:B,length:I,return_complex:B)
jagged jit kaiser_window(window_length:I,periodic:B,beta:N,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
kl_div(input:T,target:T,reduction:I,*,log_target:B) kron(input:T,other:T,*,out:T)
kthvalue(input:T,k:I,dim:I,keepdim:B,*,out:LT)
layer_norm(input:T,normalized_shape:L,weight:T,bias:T,eps:N,cudnn_enable:B) layout() lcm(input:T,other:T,*,out:T)
lcm_(input:T,other:T) ldexp(input:T,other:T,*,out:T) ldexp_(input:T,other:T) le(input:T,other:NT,*,out:T)
legacy_contiguous_format lerp(input:T,end:T,weight:NT,*,out:T) less(input:T,other:NT,*,out:T)
less_equal(input:T,other:NT,*,out:T) lgamma(input:T,*,out:T) library linalg
linspace(start:NT,end:NT,steps:I,*,out:T,dtype:D,device:O,requires_grad:B,pin_memory:B,layout:O)
load(f,map_location,pickle_module,*,weights_only,mmap)
lobpcg(A,k,B,X,n,iK,niter,tol,largest,method,tracker,ortho_iparams,ortho_fparams,ortho_bparams) log(input:T,*,out:T)
log10(input:T,*,out:T) log10_(input:T) log1p(input:T,*,out:T) log1p_(input:T) log2(input:T,*,out:T) log2_(input:T)
log_(input:T) log_softmax(input:T,dim:I,dtype:D,*,out:T) logaddexp(input:T,other:T,*,out:T)
logaddexp2(input:T,other:T,*,out:T) logcumsumexp(input:T,dim:I,*,out:T) logdet(input:T)
logical_and(input:T,other:T,*,out:T) logical_not(input:T,*,out:T) logical_or(input:T,other:T,*,out:T)
logical_xor(input:T,other:T,*,out:T) logit(input:T,eps:N,*,out:T) logit_(input:T,eps:N)
logspace(start:NT,end:NT,steps:I,base:N,*,out:T,dtype:D,device:O,requires_grad:B,pin_memory:B,layout:O)
logsumexp(input:T,dim:IL,keepdim:B,*,out:T) long
lstm(data:T,batch_sizes:T,hx:L,params:L,has_biases:B,num_layers:I,dropout:N,train:B,bidirectional:B,*,input:T,batch_first:B)
lstm_cell(input:T,hx:L,w_ih:T,w_hh:T,b_ih:T,b_hh:T) lstsq(input,A,*,out) lt(input:T,other:NT,*,out:T) lu()
lu_solve(input:T,LU_data:T,LU_pivots:T,*,out:T)
lu_unpack(LU_data:T,LU_pivots:T,unpack_data:B,unpack_pivots:B,*,out:LT) manual_seed(seed)
margin_ranking_loss(input1:T,input2:T,target:T,margin:N,reduction:I) masked masked_fill(input:T,mask:T,value:NT)
masked_scatter(input:T,mask:T,source:T) masked_select(input:T,mask:T,*,out:T) matmul(input:T,other:T,*,out:T)
matrix_exp(input:T) matrix_power(input:T,n:I,*,out:T) matrix_rank(input,tol,symmetric,*,out)
max(input:T,dim:I,keepdim:B,*,out:LT,other:T)
max_pool1d(input:T,kernel_size:IL,stride:IL,padding:IL,dilation:IL,ceil_mode:B)
max_pool1d_with_indices(input:T,kernel_size:IL,stride:IL,padding:IL,dilation:IL,ceil_mode:B)
max_pool2d(input:T,kernel_size:IL,stride:IL,padding:IL,dilation:IL,ceil_mode:B)
max_pool3d(input:T,kernel_size:IL,stride:IL,padding:IL,dilation:IL,ceil_mode:B) maximum(input:T,other:T,*,out:T)
mean(input:T,dim:IL,keepdim:B,*,dtype:D,out:T) median(input:T,dim:I,keepdim:B,*,out:LT) memory_format()
merge_type_from_type_comment meshgrid(*,indexing) min(input:T,dim:I,keepdim:B,*,out:LT,other:T)
minimum(input:T,other:T,*,out:T)
miopen_batch_norm(input:T,weight:T,bias:T,running_mean:T,running_var:T,training:B,exponential_average_factor:N,epsilon:N)
miopen_convolution(input:T,weight:T,bias:T,padding:L,stride:L,dilation:L,groups:I,benchmark:B,deterministic:B)
miopen_convolution_add_relu(input:T,weight:T,z:T,alpha:N,bias:T,stride:L,padding:L,dilation:L,groups:I)
miopen_convolution_relu(input:T,weight:T,bias:T,stride:L,padding:L,dilation:L,groups:I)
miopen_convolution_transpose(input:T,weight:T,bias:T,padding:L,output_padding:L,stride:L,dilation:L,groups:I,benchmark:B,deterministic:B)
miopen_ctc_loss(log_probs:T,targets:T,input_lengths:LT,target_lengths:LT,blank:I,deterministic:B,zero_infinity:B)
miopen_depthwise_convolution(input:T,weight:T,bias:T,padding:L,stride:L,dilation:L,groups:I,benchmark:B,deterministic:B)
miopen_rnn(input:T,weight:L,weight_stride0:I,hx:T,cx:T,mode:I,hidden_size:I,num_layers:I,batch_first:B,dropout:N,train:B,bidirectional:B,batch_sizes:L,dropout_state:T)
mkldnn_adaptive_avg_pool2d(input:T,output_size:IL,*,out:T)
mkldnn_convolution(input:T,weight:T,bias:T,padding:L,stride:L,dilation:L,groups:I)
mkldnn_linear_backward_weights(grad_output:T,input:T,weight:T,bias_defined:B)
mkldnn_max_pool2d(input:T,kernel_size:IL,stride:IL,padding:IL,dilation:IL,ceil_mode:B)
mkldnn_max_pool3d(input:T,kernel_size:IL,stride:IL,padding:IL,dilation:IL,ceil_mode:B)
mkldnn_rnn_layer(input:T,weight0:T,weight1:T,weight2:T,weight3:T,hx_:T,cx_:T,reverse:B,batch_sizes:L,mode:I,hidden_size:I,num_layers:I,has_biases:B,bidirectional:B,batch_first:B,train:B)
mm(input:T,mat2:T,out_dtype:D,*,out:T) mode(input:T,dim:I,keepdim:B,*,out:LT) monitor
moveaxis(input:T,source:IL,destination:IL) movedim(input:T,source:IL,destination:IL) mps msort(input:T,*,out:T) mtia
mul(input:NT,other:NT,*,out:T) multinomial(input:T,num_samples:I,replacement:B,*,generator:O,out:T)
multiply(input:T,other:NT,*,out:T) multiprocessing mv(input:T,vec:T,*,out:T) mvlgamma(input:T,p:I,*,out:T) nan
nan_to_num(input:T,nan:N,posinf:N,neginf:N,*,out:T) nan_to_num_(input:T,nan:N,posinf:N,neginf:N)
nanmean(input:T,dim:IL,keepdim:B,*,dtype:D,out:T) nanmedian(input:T,dim:I,keepdim:B,*,out:LT)
nanquantile(input:T,q:NT,dim:I,keepdim:B,*,interpolation:S,out:T) nansum(input:T,dim:IL,keepdim:B,*,dtype:D,out:T)
narrow(input:T,dim:I,start:IT,length:I) narrow_copy(input:T,dim:I,start:I,length:I,*,out:T)
native_batch_norm(input:T,weight:T,bias:T,running_mean:T,running_var:T,training:B,momentum:N,eps:N,*,out:LT)
native_channel_shuffle(input:T,groups:I) native_dropout(input:T,p:N,train:B)
native_group_norm(input:T,weight:T,bias:T,N:I,C:I,HxW:I,group:I,eps:N)
native_layer_norm(input:T,normalized_shape:L,weight:T,bias:T,eps:N) native_norm(input:T,p:N,dim:IL,keepdim:B,dtype:D)
nativert ne(input:T,other:NT,*,out:T) neg(input:T,*,out:T) neg_(input:T) negative(input:T,*,out:T) negative_(input:T)
nested newaxis nextafter(input:T,other:T,*,out:T) nn no_grad(orig_func) nonzero(input:T,*,as_tuple:LO,out:T)
nonzero_static(input:T,*,size:I,fill_value:I,out:T) norm(input,p,dim,keepdim,out,dtype)
norm_except_dim(v:T,pow:I,dim:I)
normal(mean:NT,std:NT,size:L,*,generator:O,out:T,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
not_equal(input:T,other:NT,*,out:T) nuclear_norm(input:T,dim:IL,keepdim:B,*,out:T) numa numel()
ones(size:L,*,out:T,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
ones_like(input:T,*,memory_format:O,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B) onnx ops optim
orgqr(input:T,input2:T,*,out:T) ormqr(input:T,input2:T,input3:T,left:B,transpose:B,*,out:T)
outer(input:T,vec2:T,*,out:T) overrides package pairwise_distance(x1:T,x2:T,p:N,eps:N,keepdim:B) parse_ir parse_schema
parse_type_comment pca_lowrank(A,q,center,niter) pdist(input:T,p:N) per_channel_affine
per_channel_affine_float_qparams per_channel_symmetric per_tensor_affine per_tensor_symmetric permute(input:T,dims:L)
permute_copy(input:T,dims:L,*,out:T) pi pinverse(input:T,rcond:N) pixel_shuffle(input:T,upscale_factor:I)
pixel_unshuffle(input:T,downscale_factor:I) poisson(input:T,generator:O)
poisson_nll_loss(input:T,target:T,log_input:B,full:B,eps:N,reduction:I) polar(abs:T,angle:T,*,out:T)
polygamma(n:I,input:T,*,out:T) positive(input:T) pow(input:T,exponent:NT,*,out:T) prelu(input:T,weight:T)
prepare_multiprocessing_environment(path) preserve_format prod(input:T,dim:I,keepdim:B,*,dtype:D,out:T) profiler
profiler_allow_cudagraph_cupti_lazy_reinit_cuda12() promote_types(type1:D,type2:D)
put(input:T,index:T,source:T,accumulate:B) q_per_channel_axis(input:T) q_per_channel_scales(input:T)
q_per_channel_zero_points(input:T) q_scale(input:T) q_zero_point(input:T) qint32 qint8 qr(input:T,some:B,*,out:LT)
qscheme() quantile(input:T,q:NT,dim:I,keepdim:B,*,interpolation:S,out:T) quantization
quantize_per_channel(input:T,scales:T,zero_points:T,axis:I,dtype:D)
quantize_per_tensor(input:T,scale:NT,zero_point:IT,dtype:D,*,tensors:L,scales:T,zero_points:T)
quantize_per_tensor_dynamic(input:T,dtype:D,reduce_range:B)
quantized_batch_norm(input:T,weight:T,bias:T,mean:T,var:T,eps:N,output_scale:N,output_zero_point:I) quantized_gru()
quantized_gru_cell(input:T,hx:T,w_ih:T,w_hh:T,b_ih:T,b_hh:T,packed_ih:T,packed_hh:T,col_offsets_ih:T,col_offsets_hh:T,scale_ih:N,scale_hh:N,zero_point_ih:N,zero_point_hh:N)
quantized_lstm()
quantized_lstm_cell(input:T,hx:L,w_ih:T,w_hh:T,b_ih:T,b_hh:T,packed_ih:T,packed_hh:T,col_offsets_ih:T,col_offsets_hh:T,scale_ih:N,scale_hh:N,zero_point_ih:N,zero_point_hh:N)
quantized_max_pool1d(input:T,kernel_size:IL,stride:IL,padding:IL,dilation:IL,ceil_mode:B)
quantized_max_pool2d(input:T,kernel_size:IL,stride:IL,padding:IL,dilation:IL,ceil_mode:B)
quantized_max_pool3d(input:T,kernel_size:IL,stride:IL,padding:IL,dilation:IL,ceil_mode:B)
quantized_rnn_relu_cell(input:T,hx:T,w_ih:T,w_hh:T,b_ih:T,b_hh:T,packed_ih:T,packed_hh:T,col_offsets_ih:T,col_offsets_hh:T,scale_ih:N,scale_hh:N,zero_point_ih:N,zero_point_hh:N)
quantized_rnn_tanh_cell(input:T,hx:T,w_ih:T,w_hh:T,b_ih:T,b_hh:T,packed_ih:T,packed_hh:T,col_offsets_ih:T,col_offsets_hh:T,scale_ih:N,scale_hh:N,zero_point_ih:N,zero_point_hh:N)
quasirandom quint2x4 quint4x2 quint8 rad2deg(input:T,*,out:T) rad2deg_(input:T)
rand(size:L,*,generator:O,out:T,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
rand_like(input:T,*,generator:O,memory_format:O,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
randint(low:I,high:I,size:L,*,generator:O,dtype:D,device:O,requires_grad:B,pin_memory:B,out:T,layout:O)
randint_like(input:T,low:I,high:IT,*,generator:O,memory_format:O,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
randn(size:L,*,generator:O,out:T,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
randn_like(input:T,*,generator:O,memory_format:O,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B) random
randperm(n:I,*,generator:O,out:T,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
range(start:N,end:N,step:N,*,out:T,dtype:D,device:O,requires_grad:B,pin_memory:B) ravel(input:T) real(input:T)
reciprocal(input:T,*,out:T) reciprocal_(input:T) relu(input:T) relu_(input:T) remainder(input:T,other:NT,*,out:T)
renorm(input:T,p:N,dim:I,maxnorm:N,*,out:T) repeat_interleave(input:T,repeats:IT,dim:I,*,output_size:I)
reshape(input:T,shape:L) resize_as_(input:T,the_template:T,*,memory_format:O)
resize_as_sparse_(input:T,the_template:T) resolve_conj(input:T) resolve_neg(input:T)
result_type(tensor:T,other:NT,*,scalar:N,scalar1:N,scalar2:N) return_types
rms_norm(input:T,normalized_shape:L,weight:T,eps:N)
rnn_relu(data:T,batch_sizes:T,hx:T,params:L,has_biases:B,num_layers:I,dropout:N,train:B,bidirectional:B,*,input:T,batch_first:B)
rnn_relu_cell(input:T,hx:T,w_ih:T,w_hh:T,b_ih:T,b_hh:T)
rnn_tanh(data:T,batch_sizes:T,hx:T,params:L,has_biases:B,num_layers:I,dropout:N,train:B,bidirectional:B,*,input:T,batch_first:B)
rnn_tanh_cell(input:T,hx:T,w_ih:T,w_hh:T,b_ih:T,b_hh:T) roll(input:T,shifts:IL,dims:IL) rot90(input:T,k:I,dims:L)
round(input:T,*,out:T,decimals:I) round_(input:T,*,decimals:I) row_indices_copy(input:T,*,out:T)
row_stack(tensors:L,*,out:T) rrelu(input:T,lower:N,upper:N,training:B,generator:O)
rrelu_(input:T,lower:N,upper:N,training:B,generator:O) rsqrt(input:T,*,out:T) rsqrt_(input:T)
rsub(input:T,other:NT,alpha:N) saddmm(input:T,mat1:T,mat2:T,*,beta:N,alpha:N,out:T)
save(obj,f,pickle_module,pickle_protocol) scalar_tensor(s:N,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
scatter(input:T,dim:I,index:T,src:T,*,reduce:S,out:T,value:N) scatter_add(input:T,dim:I,index:T,src:T,*,out:T)
scatter_reduce(input:T,dim:I,index:T,src:T,reduce:S,*,include_self:B,out:T)
searchsorted(sorted_sequence:T,input:T,*,out_int32:B,right:B,side:S,sorter:T,out:T) seed()
segment_reduce(data:T,reduce:S,*,lengths:T,indices:T,offsets:T,axis:I,unsafe:B,initial:N)
select(input:T,dim:I,index:I) select_copy(input:T,dim:I,index:I,*,out:T) select_scatter(input:T,src:T,dim:I,index:I)
selu(input:T) selu_(input:T) serialization set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype
set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype set_autocast_ipu_dtype
set_autocast_ipu_enabled set_autocast_xla_dtype set_autocast_xla_enabled set_default_device(device)
set_default_dtype(d) set_default_tensor_type(t) set_deterministic_debug_mode(debug_mode)
set_float32_matmul_precision(precision) set_flush_denormal(mode:B) set_grad_enabled(mode)
set_num_interop_threads(num:I) set_num_threads(num:I)
set_printoptions(precision,threshold,edgeitems,linewidth,profile,sci_mode) set_rng_state(new_state) set_warn_always(b)
sgn(input:T,*,out:T) short sigmoid(input:T,*,out:T) sigmoid_(input:T) sign(input:T,*,out:T) signal
signbit(input:T,*,out:T) sin(input:T,*,out:T) sin_(input:T) sinc(input:T,*,out:T) sinc_(input:T) sinh(input:T,*,out:T)
sinh_(input:T) slice_copy(input:T,dim:I,start:I,end:I,step:I,*,out:T)
slice_inverse(input:T,src:T,dim:I,start:I,end:I,step:I)
slice_scatter(input:T,src:T,dim:I,start:I,end:I,step:I,*,out:T) slogdet(input:T,*,out:LT) smm(input:T,mat2:T)
softmax(input:T,dim:I,dtype:D,*,out:T) solve(input,A,*,out) sort(input:T,dim:I,descending:B,*,stable:B,out:LT) sparse
sparse_bsc
sparse_bsc_tensor(ccol_indices:LT,row_indices:LT,values:LT,size:L,*,dtype:D,device:O,requires_grad:B,check_invariants:B)
sparse_bsr
sparse_bsr_tensor(crow_indices:LT,col_indices:LT,values:LT,size:L,*,dtype:D,device:O,requires_grad:B,check_invariants:B)
sparse_compressed_tensor(compressed_indices:LT,plain_indices:LT,values:LT,size:L,*,dtype:D,layout:O,device:O,requires_grad:B,check_invariants:B)
sparse_coo
sparse_coo_tensor(indices:T,values:LT,size:L,*,dtype:D,device:O,requires_grad:B,check_invariants:B,is_coalesced:B)
sparse_csc
sparse_csc_tensor(ccol_indices:LT,row_indices:LT,values:LT,size:L,*,dtype:D,device:O,requires_grad:B,check_invariants:B)
sparse_csr
sparse_csr_tensor(crow_indices:LT,col_indices:LT,values:LT,size:L,*,dtype:D,device:O,requires_grad:B,check_invariants:B)
special split(tensor,split_size_or_sections,dim) split_copy(input:T,split_size:I,dim:I,*,out:L)
split_with_sizes(input:T,split_sizes:L,dim:I) split_with_sizes_copy(input:T,split_sizes:L,dim:I,*,out:L)
spmm(input:T,mat2:T) sqrt(input:T,*,out:T) sqrt_(input:T) square(input:T,*,out:T) square_(input:T)
squeeze(input:T,dim:IL) squeeze_copy(input:T,dim:IL,*,out:T) sspaddmm(beta:N,alpha:N,mat1:T,mat2:T,*,input:T,out:T)
stack(tensors:L,dim:I,*,out:T) std(input:T,dim:IL,unbiased:B,keepdim:B,*,out:T,correction:N)
std_mean(input:T,dim:IL,unbiased:B,keepdim:B,*,correction:N)
stft(input,n_fft,hop_length,win_length,window,center,pad_mode,normalized,onesided,return_complex,align_to_window)
storage strided sub(input:NT,other:NT,*,alpha:N,out:T) subtract(input:T,other:NT,alpha:N,*,out:T)
sum(input:T,dim:IL,keepdim:B,*,dtype:D,out:T) svd(input:T,some:B,compute_uv:B,*,out:LT) svd_lowrank(A,q,niter,M)
swapaxes(input:T,axis0:I,axis1:I) swapdims(input:T,dim0:I,dim1:I) sym_constrain_range(size:N,*,min:I,max:I)
sym_constrain_range_for_size(size:N,*,min:I,max:I) sym_float(a) sym_fresh_size(expr) sym_int(a) sym_ite(b,t,f)
sym_max(a,b) sym_min(a,b) sym_not(a) sym_sqrt(a) sym_sum() symeig(input,eigenvectors,upper,*,out) t(input:T)
t_copy(input:T,*,out:T) take(input:T,index:T,*,out:T) take_along_dim(input:T,indices:T,dim:I,*,out:T)
tan(input:T,*,out:T) tan_(input:T) tanh(input:T,*,out:T) tanh_(input:T)
tensor(data:O,dtype:D,device:O,requires_grad:B,pin_memory:B)
tensor_split(input:T,tensor_indices_or_sections:T,dim:I,*,sections:I,indices:L) tensordot(a,b,dims,out) testing
thread_safe_generator() threshold(input:T,threshold:N,value:N,*,out:T) threshold_(input:T,threshold:N,value:N)
tile(input:T,dims:L) to_dlpack topk(input:T,k:I,dim:I,largest:B,sorted:B,*,out:LT) torch torch_version trace(input:T)
transpose(input:T,dim0:I,dim1:I) transpose_copy(input:T,dim0:I,dim1:I,*,out:T) trapezoid(y:T,x:T,*,dim:I,dx:N)
trapz(y:T,x:T,*,dx:N,dim:I) triangular_solve(input:T,A:T,upper:B,transpose:B,unitriangular:B,*,out:LT)
tril(input:T,diagonal:I,*,out:T)
tril_indices(row:I,col:I,offset:I,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
triplet_margin_loss(anchor:T,positive:T,negative:T,margin:N,p:N,eps:N,swap:B,reduction:I)
triu(input:T,diagonal:I,*,out:T)
triu_indices(row:I,col:I,offset:I,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
true_divide(input:NT,other:NT,*,out:T) trunc(input:T,*,out:T) trunc_(input:T) typename(obj) types uint1 uint16 uint2
uint3 uint32 uint4 uint5 uint6 uint64 uint7 uint8 unbind(input:T,dim:I) unbind_copy(input:T,dim:I,*,out:L)
unflatten(input:T,dim:I,sizes:L) unfold_copy(input:T,dimension:I,size:I,step:I,*,out:T) unify_type_list unique()
unique_consecutive() unravel_index(indices,shape) unsafe_chunk(input:T,chunks:I,dim:I)
unsafe_split(input:T,split_size:I,dim:I) unsafe_split_with_sizes(input:T,split_sizes:L,dim:I) unsqueeze(input:T,dim:I)
unsqueeze_copy(input:T,dim:I,*,out:T) use_deterministic_algorithms(mode,*,warn_only) utils
values_copy(input:T,*,out:T) vander(x:T,N:I,increasing:B)
var(input:T,dim:IL,unbiased:B,keepdim:B,*,out:T,correction:N)
var_mean(input:T,dim:IL,unbiased:B,keepdim:B,*,correction:N) vdot(input:T,other:T,*,out:T) version
view_as_complex(input:T) view_as_complex_copy(input:T,*,out:T) view_as_real(input:T)
view_as_real_copy(input:T,*,out:T) view_copy(input:T,dtype:D,*,out:T,size:L)
vmap(func,in_dims,out_dims,randomness,*,chunk_size) vsplit(input:T,sections:I,*,indices:L) vstack(tensors:L,*,out:T)
wait(input:LO) where(condition:T,input:T,other:NT,*,out:T) while_loop(cond_fn,body_fn,carried_inputs) windows
xlogy(input:T,other:NT,*,out:T) xlogy_(input:T,other:NT) xpu zero_(input:T)
zeros(size:L,*,out:T,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
zeros_like(input:T,*,memory_format:O,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
""",
    "Tensor": """
H T __add__ __complex__ __delitem__ __floordiv__ __lshift__ __matmul__ __mod__ __mul__ __radd__ __reversed__
__rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __rrshift__ __rshift__ abs() abs_() absolute() absolute_()
acos() acos_() acosh() acosh_() add(other:INT,*,alpha:N,out:T) add_(other:INT,*,alpha:N)
addbmm(batch1:T,batch2:T,*,beta:N,alpha:N) addbmm_(batch1:T,batch2:T,*,beta:N,alpha:N)
addcdiv(tensor1:T,tensor2:T,*,value:N) addcdiv_(tensor1:T,tensor2:T,*,value:N) addcmul(tensor1:T,tensor2:T,*,value:N)
addcmul_(tensor1:T,tensor2:T,*,value:N) addmm(mat1:T,mat2:T,*,beta:N,alpha:N) addmm_(mat1:T,mat2:T,*,beta:N,alpha:N)
addmv(mat:T,vec:T,*,beta:N,alpha:N) addmv_(mat:T,vec:T,*,beta:N,alpha:N) addr(vec1:T,vec2:T,*,beta:N,alpha:N)
addr_(vec1:T,vec2:T,*,beta:N,alpha:N) adjoint() all(dim:IL,keepdim:B) allclose(other:T,rtol:N,atol:N,equal_nan:B)
amax(dim:IL,keepdim:B) amin(dim:IL,keepdim:B) aminmax(*,dim:I,keepdim:B) angle() any(dim:IL,keepdim:B)
apply_(callable:O) arccos() arccos_() arccosh() arccosh_() arcsin() arcsin_() arcsinh() arcsinh_() arctan()
arctan2(other:T) arctan2_(other:T) arctan_() arctanh() arctanh_() argmax(dim:I,keepdim:B) argmin(dim:I,keepdim:B)
argsort(dim:I,descending:B,*,stable:B) argwhere() as_strided(size:L,stride:L,storage_offset:I)
as_strided_(size:L,stride:L,storage_offset:I) as_strided_scatter(src:T,size:L,stride:L,storage_offset:I)
as_subclass(cls:LO) asin() asin_() asinh() asinh_() atan() atan2(other:T) atan2_(other:T) atan_() atanh() atanh_()
backward(gradient,retain_graph,create_graph,inputs) baddbmm(batch1:T,batch2:T,*,beta:N,alpha:N)
baddbmm_(batch1:T,batch2:T,*,beta:N,alpha:N) bernoulli(p:N,*,generator:O) bernoulli_(p:NT,*,generator:O) bfloat16()
bincount(weights:T,minlength:I) bitwise_and(other:NT) bitwise_and_(other:NT) bitwise_left_shift(other:NT)
bitwise_left_shift_(other:NT) bitwise_not() bitwise_not_() bitwise_or(other:NT) bitwise_or_(other:NT)
bitwise_right_shift(other:NT) bitwise_right_shift_(other:NT) bitwise_xor(other:NT) bitwise_xor_(other:NT) bmm(mat2:T)
bool() broadcast_to(size:L) byte() cauchy_(median:N,sigma:N,*,generator:O) ccol_indices() cdouble ceil() ceil_()
cfloat chalf(*,memory_format:O) char() cholesky(upper:B) cholesky_inverse(upper:B) cholesky_solve(input2:T,upper:B)
chunk(chunks:I,dim:I) clamp(min:NT,max:NT) clamp_(min:NT,max:NT) clamp_max(max:NT) clamp_max_(max:NT)
clamp_min(min:NT) clamp_min_(min:NT) clip(min:NT,max:NT) clip_(min:NT,max:NT) clone(*,memory_format:O) coalesce()
col_indices() conj() conj_physical() conj_physical_() const_data_ptr contiguous(memory_format:O)
copy_(other:T,non_blocking:B) copysign(other:NT) copysign_(other:NT) corrcoef() cos() cos_() cosh() cosh_()
count_nonzero(dim:IL) cov(*,correction:I,fweights:T,aweights:T) cpu(memory_format:O) cross(other:T,dim:I)
crow_indices() cuda(device:IOS,non_blocking:B,memory_format:O) cummax(dim:I) cummin(dim:I) cumprod(dim:I,*,dtype:D)
cumprod_(dim:I,*,dtype:D) cumsum(dim:I,*,dtype:D) cumsum_(dim:I,*,dtype:D) data data_ptr() deg2rad() deg2rad_()
dense_dim() dequantize() det() detach() detach_() device diag(diagonal:I) diag_embed(offset:I,dim1:I,dim2:I)
diagflat(offset:I) diagonal(offset:I,dim1:I,dim2:I) diagonal_scatter(src:T,offset:I,dim1:I,dim2:I)
diff(n:I,dim:I,prepend:T,append:T) digamma() digamma_() dim() dim_order(*,ambiguity_check) dist(other:T,p:N)
div(other:NT,*,rounding_mode:S) div_(other:NT,*,rounding_mode:S) divide(other:NT,*,rounding_mode:S)
divide_(other:NT,*,rounding_mode:S) dot(tensor:T) double() dsplit(sections:I,*,indices:L) dtype eig(eigenvectors)
element_size() eq(other:NT) eq_(other:NT) equal(other:T) erf() erf_() erfc() erfc_() erfinv() erfinv_() exp() exp2()
exp2_() exp_() expand(size:L,*,implicit:B) expand_as(other:T) expm1() expm1_() exponential_(lambd:N,*,generator:O)
fill_(value:NT) fill_diagonal_(fill_value:N,wrap:B) fix() fix_() flatten(start_dim:I,end_dim:I) flip(dims:L) fliplr()
flipud() float() float_power(exponent:NT) float_power_(exponent:NT) floor() floor_() floor_divide(other:INT,*,out:T)
floor_divide_(other:INT) fmax(other:T) fmin(other:T) fmod(other:NT) fmod_(other:NT) frac() frac_() frexp()
gather(dim:I,index:T,*,sparse_grad:B) gcd(other:T) gcd_(other:T) ge(other:NT) ge_(other:NT)
geometric_(p:N,*,generator:O) geqrf() ger(vec2:T) get_device() grad grad_dtype grad_fn greater(other:NT)
greater_(other:NT) greater_equal(other:NT) greater_equal_(other:NT) gt(other:NT) gt_(other:NT) half()
hardshrink(lambd:N) hash_tensor(dim:IL,*,keepdim:B,mode:I) heaviside(values:T) heaviside_(values:T)
histc(bins:I,min:N,max:N) histogram(bins:IT,*,weight:T,density:B,range:L) hsplit(sections:I,*,indices:L)
hypot(other:T) hypot_(other:T) i0() i0_() igamma(other:T) igamma_(other:T) igammac(other:T) igammac_(other:T) imag
index(positions,dims) index_add(dim:I,index:T,source:T,*,alpha:N) index_add_(dim:I,index:T,source:T,*,alpha:N)
index_copy(dim:I,index:T,source:T) index_copy_(dim:I,index:T,source:T) index_fill(dim:I,index:T,value:NT)
index_fill_(dim:I,index:T,value:NT) index_put(indices:L,values:T,accumulate:B)
index_put_(indices:L,values:T,accumulate:B) index_reduce(dim:I,index:T,source:T,reduce:S,*,include_self:B)
index_reduce_(dim:I,index:T,source:T,reduce:S,*,include_self:B) index_select(dim:I,index:T) indices() inner(other:T)
int() int_repr() inverse() ipu is_coalesced() is_complex() is_conj() is_contiguous(memory_format:O) is_cpu is_cuda
is_distributed() is_floating_point() is_inference() is_ipu is_leaf is_maia is_meta is_mkldnn is_mps is_mtia is_neg()
is_nested is_nonzero() is_pinned(device:O) is_quantized is_same_size(other:T) is_set_to(tensor:T) is_shared()
is_signed() is_sparse is_sparse_csr is_vulkan is_xla is_xpu isclose(other:T,rtol:N,atol:N,equal_nan:B) isfinite()
isinf() isnan() isneginf() isposinf() isreal()
istft(n_fft,hop_length,win_length,window,center,normalized,onesided,length,return_complex) item() itemsize
kron(other:T) kthvalue(k:I,dim:I,keepdim:B) layout lcm(other:T) lcm_(other:T) ldexp(other:T) ldexp_(other:T)
le(other:NT) le_(other:NT) lerp(end:T,weight:NT) lerp_(end:T,weight:NT) less(other:NT) less_(other:NT)
less_equal(other:NT) less_equal_(other:NT) lgamma() lgamma_() log() log10() log10_() log1p() log1p_() log2() log2_()
log_() log_normal_(mean:N,std:N,*,generator:O) log_softmax(dim:I,dtype:D) logaddexp(other:T) logaddexp2(other:T)
logcumsumexp(dim:I) logdet() logical_and(other:T) logical_and_(other:T) logical_not() logical_not_()
logical_or(other:T) logical_or_(other:T) logical_xor(other:T) logical_xor_(other:T) logit(eps:N) logit_(eps:N)
logsumexp(dim:IL,keepdim:B) long() lstsq(other) lt(other:NT) lt_(other:NT) lu(pivot,get_infos)
lu_solve(LU_data:T,LU_pivots:T) mH mT map2_(x:T,y:T,callable:O) map_(other:T,callable:O) masked_fill(mask:T,value:NT)
masked_fill_(mask:T,value:NT) masked_scatter(mask:T,source:T) masked_scatter_(mask:T,source:T) masked_select(mask:T)
matmul(other:T) matrix_exp() matrix_power(n:I) max(dim:I,keepdim:B,*,other:T) maximum(other:T)
mean(dim:IL,keepdim:B,*,dtype:D) median(dim:I,keepdim:B) min(dim:I,keepdim:B,*,other:T) minimum(other:T) mm(mat2:T)
mode(dim:I,keepdim:B) module_load(other,assign) moveaxis(source:IL,destination:IL) movedim(source:IL,destination:IL)
msort() mtia mul(other:INT,*,out:T) mul_(other:INT) multinomial(num_samples:I,replacement:B,*,generator:O)
multiply(other:NT) multiply_(other:NT) mv(vec:T) mvlgamma(p:I) mvlgamma_(p:I) name nan_to_num(nan:N,posinf:N,neginf:N)
nan_to_num_(nan:N,posinf:N,neginf:N) nanmean(dim:IL,keepdim:B,*,dtype:D) nanmedian(dim:I,keepdim:B)
nanquantile(q:NT,dim:I,keepdim:B,*,interpolation:S) nansum(dim:IL,keepdim:B,*,dtype:D) narrow(dim:I,start:IT,length:I)
narrow_copy(dim:I,start:I,length:I) nbytes ndim ndimension() ne(other:NT) ne_(other:NT) neg() neg_() negative()
negative_() nelement() new(cls,args:L,*,device:O,storage:O,other:T,size:L)
new_empty(size:L,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
new_empty_strided(size:L,stride:L,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
new_full(size:L,fill_value:N,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B)
new_ones(size:L,dtype:D,device:O,requires_grad:B,pin_memory:B,*,layout:O)
new_tensor(data:O,dtype:D,device:O,requires_grad:B,pin_memory:B)
new_zeros(size:L,*,dtype:D,layout:O,device:O,pin_memory:B,requires_grad:B) nextafter(other:T) nextafter_(other:T)
nonzero(*,as_tuple:LO) nonzero_static(*,size:I,fill_value:I) norm(p,dim,keepdim,dtype)
normal_(mean:N,std:N,*,generator:O) not_equal(other:NT) not_equal_(other:NT) numel() numpy(*,force:B) orgqr(input2:T)
ormqr(input2:T,input3:T,left:B,transpose:B) outer(vec2:T) output_nr permute(dims:L) pin_memory(device:O)
pinverse(rcond:N) polygamma(n:I) polygamma_(n:I) positive() pow(exponent:NT) pow_(exponent:NT) prelu(weight:T)
prod(dim:I,keepdim:B,*,dtype:D) put(index:T,source:T,accumulate:B) put_(index:T,source:T,accumulate:B)
q_per_channel_axis() q_per_channel_scales() q_per_channel_zero_points() q_scale() q_zero_point() qr(some:B) qscheme()
quantile(q:NT,dim:I,keepdim:B,*,interpolation:S) rad2deg() rad2deg_() random_(from_:I,to:I,*,generator:O) ravel() real
reciprocal() reciprocal_() record_stream(s:O) register_hook(hook) register_post_accumulate_grad_hook(hook)
reinforce(reward) relu() relu_() remainder(other:NT) remainder_(other:NT) renorm(p:N,dim:I,maxnorm:N)
renorm_(p:N,dim:I,maxnorm:N) repeat(repeats:L) repeat_interleave(repeats:IT,dim:I,*,output_size:I) requires_grad
requires_grad_(mode:B) reshape(shape:L) reshape_as(other:T) resize() resize_(size:L,*,memory_format:O)
resize_as(tensor) resize_as_(the_template:T,*,memory_format:O) resize_as_sparse_(the_template:T) resolve_conj()
resolve_neg() retain_grad() retains_grad roll(shifts:IL,dims:IL) rot90(k:I,dims:L) round(*,decimals:I)
round_(*,decimals:I) row_indices() rsqrt() rsqrt_() scatter(dim:I,index:T,src:T,*,reduce:S,value:N)
scatter_(dim:I,index:T,src:T,*,reduce:S,value:N) scatter_add(dim:I,index:T,src:T) scatter_add_(dim:I,index:T,src:T)
scatter_reduce(dim:I,index:T,src:T,reduce:S,*,include_self:B)
scatter_reduce_(dim:I,index:T,src:T,reduce:S,*,include_self:B) select(dim:I,index:I)
select_scatter(src:T,dim:I,index:I) set_(source:O,storage_offset:O,size:O,stride:O) sgn() sgn_() shape share_memory_()
short() sigmoid() sigmoid_() sign() sign_() signbit() sin() sin_() sinc() sinc_() sinh() sinh_() size(dim:I)
slice_inverse(src:T,dim:I,start:I,end:I,step:I) slice_scatter(src:T,dim:I,start:I,end:I,step:I) slogdet() smm(mat2:T)
softmax(dim:I,dtype:D) solve(other) sort(dim:I,descending:B,*,stable:B) sparse_dim() sparse_mask(mask:T)
sparse_resize_(size:L,sparse_dim:I,dense_dim:I) sparse_resize_and_clear_(size:L,sparse_dim:I,dense_dim:I)
split(split_size,dim) split_with_sizes(split_sizes:L,dim:I) sqrt() sqrt_() square() square_() squeeze(dim:IL)
squeeze_(dim:IL) sspaddmm(mat1:T,mat2:T,*,beta:N,alpha:N) std(dim:IL,unbiased:B,keepdim:B,*,correction:N)
stft(n_fft,hop_length,win_length,window,center,pad_mode,normalized,onesided,return_complex,align_to_window) storage()
storage_offset() storage_type() stride(dim:I) sub(other:INT,*,alpha:N,out:T) sub_(other:INT,*,alpha:N)
subtract(other:NT,alpha:N) subtract_(other:NT,alpha:N) sum(dim:IL,keepdim:B,*,dtype:D) sum_to_size(size:L)
svd(some:B,compute_uv:B) swapaxes(axis0:I,axis1:I) swapaxes_(axis0:I,axis1:I) swapdims(dim0:I,dim1:I)
swapdims_(dim0:I,dim1:I) symeig(eigenvectors) t() t_() take(index:T) take_along_dim(indices:T,dim:I) tan() tan_()
tanh() tanh_() tensor_split(indices:L,dim:I,*,tensor_indices_or_sections:T,sections:I) tile(dims:L)
to(device:O,dtype:D,non_blocking:B,copy:B,*,memory_format:O,other:T) to_dense(dtype:D,*,masked_grad:B)
to_mkldnn(dtype:D) to_padded_tensor(padding:N,output_size:L)
to_sparse(sparse_dim:I,*,layout:O,blocksize:IL,dense_dim:I) to_sparse_bsc(blocksize:IL,dense_dim:I)
to_sparse_bsr(blocksize:IL,dense_dim:I) to_sparse_coo() to_sparse_csc(dense_dim:I) to_sparse_csr(dense_dim:I) tolist()
topk(k:I,dim:I,largest:B,sorted:B) trace() transpose(dim0:I,dim1:I) transpose_(dim0:I,dim1:I)
triangular_solve(A:T,upper:B,transpose:B,unitriangular:B) tril(diagonal:I) tril_(diagonal:I) triu(diagonal:I)
triu_(diagonal:I) true_divide(other:INT,*,out:T) true_divide_(other:INT) trunc() trunc_()
type(dtype:DS,non_blocking:B) type_as(other:T) unbind(dim:I) unflatten(dim,sizes) unfold(dimension:I,size:I,step:I)
uniform_(from_:N,to:N,*,generator:O) unique(sorted,return_inverse,return_counts,dim)
unique_consecutive(return_inverse,return_counts,dim) unsafe_chunk(chunks:I,dim:I) unsafe_split(split_size:I,dim:I)
unsafe_split_with_sizes(split_sizes:L,dim:I) unsqueeze(dim:I) unsqueeze_(dim:I) untyped_storage() values()
var(dim:IL,unbiased:B,keepdim:B,*,correction:N) vdot(other:T) view(dtype:D,*,size:L) view_as(other:T) volatile
vsplit(sections:I,*,indices:L) where(condition:T,other:NT) xlogy(other:NT) xlogy_(other:NT)
xpu(device:IOS,non_blocking:B,memory_format:O) zero_()
""",
    "Size": """
__add__ __mul__ __radd__ __rmul__ count(value) index(value,start,stop) numel(input:T)
""",
    "Generator": """
clone_state device get_offset get_state graphsafe_get_state graphsafe_set_state initial_seed(input:O)
manual_seed(input:O,seed:I) seed(input:O) set_offset set_state
""",
    "dtype": """
abbr is_complex is_floating_point is_signed itemsize to_complex to_real
""",
    "device": """
index type
""",
    "autograd": """
DeviceType Function NestedIOFunction ProfilerActivity ProfilerConfig ProfilerEvent ProfilerState SavedTensor Variable
anomaly_mode backward(tensors,grad_tensors,retain_graph,create_graph,grad_variables,inputs) detect_anomaly(check_nan)
enable_grad(orig_func) enforce_grad_layout_policy(enable) forward_ad function functional
grad(outputs,inputs,grad_outputs,retain_graph,create_graph,only_inputs,allow_unused,is_grads_batched,materialize_grads)
grad_mode
gradcheck(func,inputs,*,eps,atol,rtol,raise_exception,nondet_tol,check_undefined_grad,check_grad_dtypes,check_batched_grad,check_batched_forward_grad,check_forward_ad,check_backward_ad,fast_mode,masked)
gradgradcheck(func,inputs,grad_outputs,*,eps,atol,rtol,gen_non_contig_grad_outputs,raise_exception,nondet_tol,check_undefined_grad,check_grad_dtypes,check_batched_grad,check_fwd_over_rev,check_rev_over_rev,fast_mode,masked)
graph handle_torch_function(public_api,relevant_args) has_torch_function() inference_mode(mode)
is_multithreading_enabled is_tensor_like(inp) is_view_replay_enabled kineto_available no_grad(orig_func) profiler
profiler_legacy profiler_util set_detect_anomaly(mode,check_nan) set_grad_enabled(mode)
set_multithreading_enabled(mode) torch variable()
""",
    "autograd.forward_ad": """
UnpackedDualTensor(primal,tangent) dual_level() enter_dual_level() exit_dual_level(*,level)
make_dual(tensor,tangent,*,level) torch unpack_dual(tensor,*,level)
""",
    "autograd.function": """
AUTOGRAD_FUNCTION_COUNTER BackwardCFunction Function FunctionCtx() FunctionMeta(name,bases,attrs)
InplaceFunction(inplace) NestedIOFunction custom_function_call(autograd_function) hooks once_differentiable(fn) torch
""",
    "autograd.functional": """
fwAD hessian(func,inputs,create_graph,strict,vectorize,outer_jacobian_strategy) hvp(func,inputs,v,create_graph,strict)
jacobian(func,inputs,create_graph,strict,vectorize,strategy) jvp(func,inputs,v,create_graph,strict) torch
vhp(func,inputs,v,create_graph,strict) vjp(func,inputs,v,create_graph,strict)
""",
    "autograd.graph": """
GradientEdge(node,output_nr,ownership_token) Node() RemovableHandle(hooks_dict,*,extra_dict) TYPE_CHECKING
TorchDispatchMode() Variable allow_mutation_on_saved_tensors() disable_saved_tensors_hooks(error_message)
get_gradient_edge(tensor) increment_version(tensor) region_activation_memory_budget(budget)
register_multi_grad_hook(tensors,fn,*,mode) save_on_cpu(pin_memory,device_type)
saved_tensors_hooks(pack_hook,unpack_hook) set_override_stale_capture_stream(enabled)
set_warn_on_accumulate_grad_stream_mismatch(enabled) torch
""",
    "func": """
debug_unwrap(tensor,*,recurse) functional_call(module,parameter_and_buffer_dicts,args,kwargs,*,tie_weights,strict)
functionalize(func,*,remove) grad(func,argnums,has_aux) grad_and_value(func,argnums,has_aux) hessian(func,argnums)
jacfwd(func,argnums,has_aux,*,randomness) jacrev(func,argnums,*,has_aux,chunk_size)
jvp(func,primals,tangents,*,strict,has_aux) linearize(func) rearrange(tensor,pattern)
replace_all_batch_norm_modules_(root) stack_module_state(models) vjp(func,*,has_aux)
vmap(func,in_dims,out_dims,randomness,*,chunk_size)
""",
    "linalg": """
LinAlgError cholesky(input:T,*,upper:B,out:T) cholesky_ex(input:T,*,upper:B,check_errors:B,L:T,info:T) common_notes
cond(input:T,p:NS,*,out:T) cross(input:T,other:T,*,dim:I,out:T) det(A:T,*,out:T)
diagonal(A:T,*,offset:I,dim1:I,dim2:I) eig(input:T,*,eigenvalues:T,eigenvectors:T)
eigh(input:T,UPLO:S,*,eigvals:T,eigvecs:T) eigvals(input:T,*,out:T) eigvalsh(input:T,UPLO:S,*,out:T)
householder_product(input:T,tau:T,*,out:T) inv(A:T,*,out:T) inv_ex(A:T,*,check_errors:B,inverse:T,info:T)
ldl_factor(input:T,*,hermitian:B,LD:T,pivots:T)
ldl_factor_ex(input:T,*,hermitian:B,check_errors:B,LD:T,pivots:T,info:T)
ldl_solve(LD:T,pivots:T,B:T,*,hermitian:B,out:T)
lstsq(input:T,b:T,rcond:N,*,driver:S,solution:T,residuals:T,rank:T,singular_values:T) lu(A:T,*,pivot:B,P:T,L:T,U:T)
lu_factor(A:T,*,pivot:B,LU:T,pivots:T) lu_factor_ex(A:T,*,pivot:B,check_errors:B,LU:T,pivots:T,info:T)
lu_solve(LU:T,pivots:T,B:T,*,left:B,adjoint:B,out:T) matmul(input:T,other:T,*,out:T) matrix_exp(input:T,*,out:T)
matrix_norm(input:T,ord:NS,dim:L,keepdim:B,*,dtype:I,out:T) matrix_power(input:T,n:I,*,out:T)
matrix_rank(input:T,tol:NT,hermitian:B,*,atol:NT,rtol:NT,out:T) multi_dot(tensors:L,*,out:T)
norm(input:T,ord:NS,dim:L,keepdim:B,*,dtype:I,out:T) pinv(input:T,rcond:NT,hermitian:B,*,atol:NT,rtol:NT,out:T)
qr(A:T,mode:S,*,Q:T,R:T) slogdet(A:T,*,sign:T,logabsdet:T) solve(A:T,B:T,*,left:B,out:T)
solve_ex(A:T,B:T,*,left:B,check_errors:B,result:T,info:T)
solve_triangular(input:T,B:T,*,upper:B,left:B,unitriangular:B,out:T) svd(A:T,full_matrices:B,*,driver:S,U:T,S:T,Vh:T)
svdvals(A:T,*,driver:S,out:T) tensorinv(input:T,ind:I,*,out:T) tensorsolve(input:T,other:T,dims:L,*,out:T)
vander(x:T,*,N:I) vecdot(x:T,y:T,*,dim:I,out:T) vector_norm(input:T,ord:N,dim:L,keepdim:B,*,dtype:I,out:T)
""",
    "nn": """
AdaptiveAvgPool1d(output_size) AdaptiveAvgPool2d(output_size) AdaptiveAvgPool3d(output_size)
AdaptiveLogSoftmaxWithLoss(in_features,n_classes,cutoffs,div_value,head_bias,device,dtype)
AdaptiveMaxPool1d(output_size,return_indices) AdaptiveMaxPool2d(output_size,return_indices)
AdaptiveMaxPool3d(output_size,return_indices) AlphaDropout(p,inplace)
AvgPool1d(kernel_size,stride,padding,ceil_mode,count_include_pad)
AvgPool2d(kernel_size,stride,padding,ceil_mode,count_include_pad,divisor_override)
AvgPool3d(kernel_size,stride,padding,ceil_mode,count_include_pad,divisor_override)
BCELoss(weight,size_average,reduce,reduction) BCEWithLogitsLoss(weight,size_average,reduce,reduction,pos_weight)
BatchNorm1d(num_features,eps,momentum,affine,track_running_stats,device,dtype,*,bias)
BatchNorm2d(num_features,eps,momentum,affine,track_running_stats,device,dtype,*,bias)
BatchNorm3d(num_features,eps,momentum,affine,track_running_stats,device,dtype,*,bias)
Bilinear(in1_features,in2_features,out_features,bias,device,dtype) Buffer(data,*,persistent) CELU(alpha,inplace)
CTCLoss(blank,reduction,zero_infinity) ChannelShuffle(groups) CircularPad1d(padding) CircularPad2d(padding)
CircularPad3d(padding) ConstantPad1d(padding,value) ConstantPad2d(padding,value) ConstantPad3d(padding,value)
Container() Conv1d(in_channels,out_channels,kernel_size,stride,padding,dilation,groups,bias,padding_mode,device,dtype)
Conv2d(in_channels,out_channels,kernel_size,stride,padding,dilation,groups,bias,padding_mode,device,dtype)
Conv3d(in_channels,out_channels,kernel_size,stride,padding,dilation,groups,bias,padding_mode,device,dtype)
ConvTranspose1d(in_channels,out_channels,kernel_size,stride,padding,output_padding,groups,bias,dilation,padding_mode,device,dtype)
ConvTranspose2d(in_channels,out_channels,kernel_size,stride,padding,output_padding,groups,bias,dilation,padding_mode,device,dtype)
ConvTranspose3d(in_channels,out_channels,kernel_size,stride,padding,output_padding,groups,bias,dilation,padding_mode,device,dtype)
CosineEmbeddingLoss(margin,size_average,reduce,reduction) CosineSimilarity(dim,eps)
CrossEntropyLoss(weight,size_average,ignore_index,reduce,reduction,label_smoothing) CrossMapLRN2d(size,alpha,beta,k)
DataParallel(module,device_ids,output_device,dim) Dropout(p,inplace) Dropout1d(p,inplace) Dropout2d(p,inplace)
Dropout3d(p,inplace) ELU(alpha,inplace)
Embedding(num_embeddings,embedding_dim,padding_idx,max_norm,norm_type,scale_grad_by_freq,sparse,device,dtype)
EmbeddingBag(num_embeddings,embedding_dim,max_norm,norm_type,scale_grad_by_freq,mode,sparse,include_last_offset,padding_idx,device,dtype)
FeatureAlphaDropout(p,inplace) Flatten(start_dim,end_dim) Fold(output_size,kernel_size,dilation,padding,stride)
FractionalMaxPool2d(kernel_size,output_size,output_ratio,return_indices)
FractionalMaxPool3d(kernel_size,output_size,output_ratio,return_indices) GELU(approximate) GLU(dim)
GRU(mode,input_size,hidden_size,num_layers,bias,batch_first,dropout,bidirectional,proj_size,device,dtype)
GRUCell(input_size,hidden_size,bias,device,dtype) GaussianNLLLoss(*,full,eps,reduction)
GroupNorm(num_groups,num_channels,eps,affine,device,dtype,*,bias) Hardshrink(lambd) Hardsigmoid(inplace)
Hardswish(inplace) Hardtanh(min_val,max_val,inplace,min_value,max_value)
HingeEmbeddingLoss(margin,size_average,reduce,reduction) HuberLoss(reduction,delta) Identity()
InstanceNorm1d(num_features,eps,momentum,affine,track_running_stats,device,dtype,*,bias)
InstanceNorm2d(num_features,eps,momentum,affine,track_running_stats,device,dtype,*,bias)
InstanceNorm3d(num_features,eps,momentum,affine,track_running_stats,device,dtype,*,bias)
KLDivLoss(size_average,reduce,reduction,log_target) L1Loss(size_average,reduce,reduction)
LPPool1d(norm_type,kernel_size,stride,ceil_mode) LPPool2d(norm_type,kernel_size,stride,ceil_mode)
LPPool3d(norm_type,kernel_size,stride,ceil_mode)
LSTM(mode,input_size,hidden_size,num_layers,bias,batch_first,dropout,bidirectional,proj_size,device,dtype)
LSTMCell(input_size,hidden_size,bias,device,dtype)
LayerNorm(normalized_shape,eps,elementwise_affine,bias,device,dtype)
LazyBatchNorm1d(eps,momentum,affine,track_running_stats,device,dtype,*,bias)
LazyBatchNorm2d(eps,momentum,affine,track_running_stats,device,dtype,*,bias)
LazyBatchNorm3d(eps,momentum,affine,track_running_stats,device,dtype,*,bias)
LazyConv1d(out_channels,kernel_size,stride,padding,dilation,groups,bias,padding_mode,device,dtype)
LazyConv2d(out_channels,kernel_size,stride,padding,dilation,groups,bias,padding_mode,device,dtype)
LazyConv3d(out_channels,kernel_size,stride,padding,dilation,groups,bias,padding_mode,device,dtype)
LazyConvTranspose1d(out_channels,kernel_size,stride,padding,output_padding,groups,bias,dilation,padding_mode,device,dtype)
LazyConvTranspose2d(out_channels,kernel_size,stride,padding,output_padding,groups,bias,dilation,padding_mode,device,dtype)
LazyConvTranspose3d(out_channels,kernel_size,stride,padding,output_padding,groups,bias,dilation,padding_mode,device,dtype)
LazyInstanceNorm1d(eps,momentum,affine,track_running_stats,device,dtype,*,bias)
LazyInstanceNorm2d(eps,momentum,affine,track_running_stats,device,dtype,*,bias)
LazyInstanceNorm3d(eps,momentum,affine,track_running_stats,device,dtype,*,bias)
LazyLinear(out_features,bias,device,dtype) LeakyReLU(negative_slope,inplace)
Linear(in_features,out_features,bias,device,dtype)
LinearCrossEntropyLoss(in_features,num_classes,*,out_features,bias,device,dtype,reduction,weight,ignore_index,label_smoothing,options)
LinearCrossEntropyOptions(allow_retain_graph,batch_chunk_size,chunking_method,acc_policy,acc_dtype)
LocalResponseNorm(size,alpha,beta,k) LogSigmoid() LogSoftmax(dim) MSELoss(size_average,reduce,reduction)
MarginRankingLoss(margin,size_average,reduce,reduction)
MaxPool1d(kernel_size,stride,padding,dilation,return_indices,ceil_mode)
MaxPool2d(kernel_size,stride,padding,dilation,return_indices,ceil_mode)
MaxPool3d(kernel_size,stride,padding,dilation,return_indices,ceil_mode) MaxUnpool1d(kernel_size,stride,padding)
MaxUnpool2d(kernel_size,stride,padding) MaxUnpool3d(kernel_size,stride,padding) Mish(inplace) Module()
ModuleDict(modules) ModuleList(modules) MultiLabelMarginLoss(size_average,reduce,reduction)
MultiLabelSoftMarginLoss(weight,size_average,reduce,reduction)
MultiMarginLoss(p,margin,weight,size_average,reduce,reduction)
MultiheadAttention(embed_dim,num_heads,dropout,bias,add_bias_kv,add_zero_attn,kdim,vdim,batch_first,device,dtype)
NLLLoss(weight,size_average,ignore_index,reduce,reduction)
NLLLoss2d(weight,size_average,ignore_index,reduce,reduction) PReLU(num_parameters,init,device,dtype)
PairwiseDistance(p,eps,keepdim) Parameter(data,requires_grad) ParameterDict(parameters) ParameterList(values)
PixelShuffle(upscale_factor) PixelUnshuffle(downscale_factor)
PoissonNLLLoss(log_input,full,size_average,eps,reduce,reduction)
RMSNorm(normalized_shape,eps,elementwise_affine,device,dtype)
RNN(mode,input_size,hidden_size,num_layers,bias,batch_first,dropout,bidirectional,proj_size,device,dtype)
RNNBase(mode,input_size,hidden_size,num_layers,bias,batch_first,dropout,bidirectional,proj_size,device,dtype)
RNNCell(input_size,hidden_size,bias,nonlinearity,device,dtype)
RNNCellBase(input_size,hidden_size,bias,num_chunks,device,dtype) RReLU(lower,upper,inplace) ReLU(inplace)
ReLU6(inplace) ReflectionPad1d(padding) ReflectionPad2d(padding) ReflectionPad3d(padding) ReplicationPad1d(padding)
ReplicationPad2d(padding) ReplicationPad3d(padding) SELU(inplace) Sequential() SiLU(inplace) Sigmoid()
SmoothL1Loss(size_average,reduce,reduction,beta) SoftMarginLoss(size_average,reduce,reduction) Softmax(dim)
Softmax2d() Softmin(dim) Softplus(beta,threshold) Softshrink(lambd) Softsign()
SyncBatchNorm(num_features,eps,momentum,affine,track_running_stats,process_group,device,dtype,*,bias) Tanh()
Tanhshrink() Threshold(threshold,value,inplace)
Transformer(d_model,nhead,num_encoder_layers,num_decoder_layers,dim_feedforward,dropout,activation,custom_encoder,custom_decoder,layer_norm_eps,batch_first,norm_first,bias,device,dtype)
TransformerDecoder(decoder_layer,num_layers,norm)
TransformerDecoderLayer(d_model,nhead,dim_feedforward,dropout,activation,layer_norm_eps,batch_first,norm_first,bias,device,dtype)
TransformerEncoder(encoder_layer,num_layers,norm,enable_nested_tensor,mask_check)
TransformerEncoderLayer(d_model,nhead,dim_feedforward,dropout,activation,layer_norm_eps,batch_first,norm_first,bias,device,dtype)
TripletMarginLoss(margin,p,eps,swap,size_average,reduce,reduction)
TripletMarginWithDistanceLoss(*,distance_function,margin,swap,reduction) Unflatten(dim,unflattened_size)
Unfold(kernel_size,dilation,padding,stride) UninitializedBuffer(requires_grad,device,dtype,persistent)
UninitializedParameter(requires_grad,device,dtype)
Upsample(size,scale_factor,mode,align_corners,recompute_scale_factor) UpsamplingBilinear2d(size,scale_factor)
UpsamplingNearest2d(size,scale_factor) ZeroPad1d(padding) ZeroPad2d(padding) ZeroPad3d(padding) attention backends
common_types cpp factory_kwargs(kwargs) functional grad init intrinsic modules parallel parameter qat quantizable
quantized utils
""",
    "nn.Module": """
T_destination add_module(name,module) apply(fn) bfloat16() buffers(recurse) call_super_init children() compile() cpu()
cuda(device) double() dump_patches eval() extra_repr() float() forward() get_buffer(target) get_extra_state()
get_parameter(target) get_submodule(target) half() ipu(device) load_state_dict(state_dict,strict,assign)
modules(remove_duplicate) mtia(device) named_buffers(prefix,recurse,remove_duplicate) named_children()
named_modules(memo,prefix,remove_duplicate) named_parameters(prefix,recurse,remove_duplicate) parameters(recurse)
register_backward_hook(hook) register_buffer(name,tensor,persistent)
register_forward_hook(hook,*,prepend,with_kwargs,always_call) register_forward_pre_hook(hook,*,prepend,with_kwargs)
register_full_backward_hook(hook,prepend) register_full_backward_pre_hook(hook,prepend)
register_load_state_dict_post_hook(hook) register_load_state_dict_pre_hook(hook) register_module(name,module)
register_parameter(name,param) register_state_dict_post_hook(hook) register_state_dict_pre_hook(hook)
requires_grad_(requires_grad) set_extra_state(state) set_submodule(target,module,strict) share_memory()
state_dict(*,destination,prefix,keep_vars) to() to_empty(*,device,recurse) train(mode) type(dst_type) xpu(device)
zero_grad(set_to_none)
""",
    "nn.Sequential": """
T_destination __add__ __delitem__ __mul__ __rmul__ add_module(name,module) append(module) apply(fn) bfloat16()
buffers(recurse) call_super_init children() compile() cpu() cuda(device) double() dump_patches eval()
extend(sequential) extra_repr() float() forward(input) get_buffer(target) get_extra_state() get_parameter(target)
get_submodule(target) half() insert(index,module) ipu(device) load_state_dict(state_dict,strict,assign)
modules(remove_duplicate) mtia(device) named_buffers(prefix,recurse,remove_duplicate) named_children()
named_modules(memo,prefix,remove_duplicate) named_parameters(prefix,recurse,remove_duplicate) parameters(recurse)
pop(key) register_backward_hook(hook) register_buffer(name,tensor,persistent)
register_forward_hook(hook,*,prepend,with_kwargs,always_call) register_forward_pre_hook(hook,*,prepend,with_kwargs)
register_full_backward_hook(hook,prepend) register_full_backward_pre_hook(hook,prepend)
register_load_state_dict_post_hook(hook) register_load_state_dict_pre_hook(hook) register_module(name,module)
register_parameter(name,param) register_state_dict_post_hook(hook) register_state_dict_pre_hook(hook)
requires_grad_(requires_grad) set_extra_state(state) set_submodule(target,module,strict) share_memory()
state_dict(*,destination,prefix,keep_vars) to() to_empty(*,device,recurse) train(mode) type(dst_type) xpu(device)
zero_grad(set_to_none)
""",
    "nn.ModuleList": """
T_destination __add__ __delitem__ add_module(name,module) append(module) apply(fn) bfloat16() buffers(recurse)
call_super_init children() compile() cpu() cuda(device) double() dump_patches eval() extend(modules) extra_repr()
float() forward() get_buffer(target) get_extra_state() get_parameter(target) get_submodule(target) half()
insert(index,module) ipu(device) load_state_dict(state_dict,strict,assign) modules(remove_duplicate) mtia(device)
named_buffers(prefix,recurse,remove_duplicate) named_children() named_modules(memo,prefix,remove_duplicate)
named_parameters(prefix,recurse,remove_duplicate) parameters(recurse) pop(key) register_backward_hook(hook)
register_buffer(name,tensor,persistent) register_forward_hook(hook,*,prepend,with_kwargs,always_call)
register_forward_pre_hook(hook,*,prepend,with_kwargs) register_full_backward_hook(hook,prepend)
register_full_backward_pre_hook(hook,prepend) register_load_state_dict_post_hook(hook)
register_load_state_dict_pre_hook(hook) register_module(name,module) register_parameter(name,param)
register_state_dict_post_hook(hook) register_state_dict_pre_hook(hook) requires_grad_(requires_grad)
set_extra_state(state) set_submodule(target,module,strict) share_memory() state_dict(*,destination,prefix,keep_vars)
to() to_empty(*,device,recurse) train(mode) type(dst_type) xpu(device) zero_grad(set_to_none)
""",
    "nn.ModuleDict": """
T_destination __delitem__ add_module(name,module) apply(fn) bfloat16() buffers(recurse) call_super_init children()
clear() compile() cpu() cuda(device) double() dump_patches eval() extra_repr() float() forward() get_buffer(target)
get_extra_state() get_parameter(target) get_submodule(target) half() ipu(device) items() keys()
load_state_dict(state_dict,strict,assign) modules(remove_duplicate) mtia(device)
named_buffers(prefix,recurse,remove_duplicate) named_children() named_modules(memo,prefix,remove_duplicate)
named_parameters(prefix,recurse,remove_duplicate) parameters(recurse) pop(key) register_backward_hook(hook)
register_buffer(name,tensor,persistent) register_forward_hook(hook,*,prepend,with_kwargs,always_call)
register_forward_pre_hook(hook,*,prepend,with_kwargs) register_full_backward_hook(hook,prepend)
register_full_backward_pre_hook(hook,prepend) register_load_state_dict_post_hook(hook)
register_load_state_dict_pre_hook(hook) register_module(name,module) register_parameter(name,param)
register_state_dict_post_hook(hook) register_state_dict_pre_hook(hook) requires_grad_(requires_grad)
set_extra_state(state) set_submodule(target,module,strict) share_memory() state_dict(*,destination,prefix,keep_vars)
to() to_empty(*,device,recurse) train(mode) type(dst_type) update(modules) values() xpu(device) zero_grad(set_to_none)
""",
    "nn.ParameterList": """
T_destination add_module(name,module) append(value) apply(fn) bfloat16() buffers(recurse) call_super_init children()
compile() cpu() cuda(device) double() dump_patches eval() extend(values) extra_repr() float() forward()
get_buffer(target) get_extra_state() get_parameter(target) get_submodule(target) half() ipu(device)
load_state_dict(state_dict,strict,assign) modules(remove_duplicate) mtia(device)
named_buffers(prefix,recurse,remove_duplicate) named_children() named_modules(memo,prefix,remove_duplicate)
named_parameters(prefix,recurse,remove_duplicate) parameters(recurse) register_backward_hook(hook)
register_buffer(name,tensor,persistent) register_forward_hook(hook,*,prepend,with_kwargs,always_call)
register_forward_pre_hook(hook,*,prepend,with_kwargs) register_full_backward_hook(hook,prepend)
register_full_backward_pre_hook(hook,prepend) register_load_state_dict_post_hook(hook)
register_load_state_dict_pre_hook(hook) register_module(name,module) register_parameter(name,param)
register_state_dict_post_hook(hook) register_state_dict_pre_hook(hook) requires_grad_(requires_grad)
set_extra_state(state) set_submodule(target,module,strict) share_memory() state_dict(*,destination,prefix,keep_vars)
to() to_empty(*,device,recurse) train(mode) type(dst_type) xpu(device) zero_grad(set_to_none)
""",
    "nn.ParameterDict": """
T_destination __delitem__ __reversed__ add_module(name,module) apply(fn) bfloat16() buffers(recurse) call_super_init
children() clear() compile() copy() cpu() cuda(device) double() dump_patches eval() extra_repr() float() forward()
fromkeys(keys,default) get(key,default) get_buffer(target) get_extra_state() get_parameter(target)
get_submodule(target) half() ipu(device) items() keys() load_state_dict(state_dict,strict,assign)
modules(remove_duplicate) mtia(device) named_buffers(prefix,recurse,remove_duplicate) named_children()
named_modules(memo,prefix,remove_duplicate) named_parameters(prefix,recurse,remove_duplicate) parameters(recurse)
pop(key) popitem() register_backward_hook(hook) register_buffer(name,tensor,persistent)
register_forward_hook(hook,*,prepend,with_kwargs,always_call) register_forward_pre_hook(hook,*,prepend,with_kwargs)
register_full_backward_hook(hook,prepend) register_full_backward_pre_hook(hook,prepend)
register_load_state_dict_post_hook(hook) register_load_state_dict_pre_hook(hook) register_module(name,module)
register_parameter(name,param) register_state_dict_post_hook(hook) register_state_dict_pre_hook(hook)
requires_grad_(requires_grad) set_extra_state(state) set_submodule(target,module,strict) setdefault(key,default)
share_memory() state_dict(*,destination,prefix,keep_vars) to() to_empty(*,device,recurse) train(mode) type(dst_type)
update(parameters) values() xpu(device) zero_grad(set_to_none)
""",
    "nn.functional": """
BroadcastingList1 BroadcastingList2 BroadcastingList3 GRID_SAMPLE_INTERPOLATION_MODES GRID_SAMPLE_PADDING_MODES
ScalingType SwizzleType TYPE_CHECKING Tensor adaptive_avg_pool1d(input:T,output_size:IL)
adaptive_avg_pool2d(input,output_size) adaptive_avg_pool3d(input,output_size) adaptive_max_pool1d()
adaptive_max_pool1d_with_indices(input,output_size,return_indices) adaptive_max_pool2d()
adaptive_max_pool2d_with_indices(input,output_size,return_indices) adaptive_max_pool3d()
adaptive_max_pool3d_with_indices(input,output_size,return_indices) affine_grid(theta,size,align_corners)
alpha_dropout(input,p,training,inplace) assert_int_or_pair(arg,arg_name,message)
avg_pool1d(input:T,kernel_size:IL,stride:IL,padding:IL,ceil_mode:B,count_include_pad:B)
avg_pool2d(input:T,kernel_size:IL,stride:IL,padding:IL,ceil_mode:B,count_include_pad:B,divisor_override:I)
avg_pool3d(input:T,kernel_size:IL,stride:IL,padding:IL,ceil_mode:B,count_include_pad:B,divisor_override:I)
batch_norm(input,running_mean,running_var,weight,bias,training,momentum,eps)
bilinear(input1:T,input2:T,weight:T,bias:T) binary_cross_entropy(input,target,weight,size_average,reduce,reduction)
binary_cross_entropy_with_logits(input,target,weight,size_average,reduce,reduction,pos_weight)
boolean_dispatch(arg_name,arg_index,default,if_true,if_false,module_name,func_name) celu(input,alpha,inplace)
celu_(input:T,alpha:N) channel_shuffle(input:T,groups:I)
conv1d(input:T,weight:T,bias:T,stride:IL,padding:ILS,dilation:IL,groups:I)
conv2d(input:T,weight:T,bias:T,stride:IL,padding:ILS,dilation:IL,groups:I)
conv3d(input:T,weight:T,bias:T,stride:IL,padding:ILS,dilation:IL,groups:I) conv_tbc(input:T,weight:T,bias:T,pad:I)
conv_transpose1d(input:T,weight:T,bias:T,stride:IL,padding:IL,output_padding:IL,groups:I,dilation:IL)
conv_transpose2d(input:T,weight:T,bias:T,stride:IL,padding:IL,output_padding:IL,groups:I,dilation:IL)
conv_transpose3d(input:T,weight:T,bias:T,stride:IL,padding:IL,output_padding:IL,groups:I,dilation:IL)
cosine_embedding_loss(input1,input2,target,margin,size_average,reduce,reduction)
cosine_similarity(x1:T,x2:T,dim:I,eps:N)
cross_entropy(input,target,weight,size_average,ignore_index,reduce,reduction,label_smoothing)
ctc_loss(log_probs,targets,input_lengths,target_lengths,blank,reduction,zero_infinity)
dropout(input,p,training,inplace) dropout1d(input,p,training,inplace) dropout2d(input,p,training,inplace)
dropout3d(input,p,training,inplace) elu(input,alpha,inplace) elu_(input:T,alpha:N)
embedding(input,weight,padding_idx,max_norm,norm_type,scale_grad_by_freq,sparse)
embedding_bag(input,weight,offsets,max_norm,norm_type,scale_grad_by_freq,mode,sparse,per_sample_weights,include_last_offset,padding_idx)
feature_alpha_dropout(input,p,training,inplace) fold(input,output_size,kernel_size,dilation,padding,stride)
fractional_max_pool2d() fractional_max_pool2d_with_indices(input,kernel_size,output_size,output_ratio,return_indices)
fractional_max_pool3d() fractional_max_pool3d_with_indices(input,kernel_size,output_size,output_ratio,return_indices)
gaussian_nll_loss(input,target,var,full,eps,reduction) gelu(input:T,approximate:S) glu(input,dim) grad
grid_sample(input,grid,mode,padding_mode,align_corners) group_norm(input,num_groups,weight,bias,eps)
grouped_mm(mat_a,mat_b,*,offs,bias,out_dtype) gumbel_softmax(logits,tau,hard,eps,dim)
handle_torch_function(public_api,relevant_args) hardshrink(input:T,lambd:N,*,out:T) hardsigmoid(input,inplace)
hardswish(input,inplace) hardtanh(input,min_val,max_val,inplace) hardtanh_(input:T,min_val:N,max_val:N)
has_torch_function() has_torch_function_unary has_torch_function_variadic
hinge_embedding_loss(input,target,margin,size_average,reduce,reduction)
huber_loss(input,target,reduction,delta,weight)
instance_norm(input,running_mean,running_var,weight,bias,use_input_stats,momentum,eps)
interpolate(input,size,scale_factor,mode,align_corners,recompute_scale_factor,antialias)
kl_div(input,target,size_average,reduce,reduction,log_target)
l1_loss(input,target,size_average,reduce,reduction,weight) layer_norm(input,normalized_shape,weight,bias,eps)
leaky_relu(input,negative_slope,inplace) leaky_relu_(input:T,negative_slope:N) linear(input:T,weight:T,bias:T)
linear_cross_entropy(input,linear_weight,target,*,linear_bias,weight,reduction,ignore_index,label_smoothing,options)
local_response_norm(input,size,alpha,beta,k) log_softmax(input,dim,dtype) logsigmoid
lp_pool1d(input,norm_type,kernel_size,stride,ceil_mode) lp_pool2d(input,norm_type,kernel_size,stride,ceil_mode)
lp_pool3d(input,norm_type,kernel_size,stride,ceil_mode)
margin_ranking_loss(input1,input2,target,margin,size_average,reduce,reduction) max_pool1d()
max_pool1d_with_indices(input,kernel_size,stride,padding,dilation,ceil_mode,return_indices) max_pool2d()
max_pool2d_with_indices(input,kernel_size,stride,padding,dilation,ceil_mode,return_indices) max_pool3d()
max_pool3d_with_indices(input,kernel_size,stride,padding,dilation,ceil_mode,return_indices)
max_unpool1d(input,indices,kernel_size,stride,padding,output_size)
max_unpool2d(input,indices,kernel_size,stride,padding,output_size)
max_unpool3d(input,indices,kernel_size,stride,padding,output_size) mish(input,inplace)
mse_loss(input,target,size_average,reduce,reduction,weight)
multi_head_attention_forward(query,key,value,embed_dim_to_check,num_heads,in_proj_weight,in_proj_bias,bias_k,bias_v,add_zero_attn,dropout_p,out_proj_weight,out_proj_bias,training,key_padding_mask,need_weights,attn_mask,use_separate_proj_weight,q_proj_weight,k_proj_weight,v_proj_weight,static_k,static_v,average_attn_weights,is_causal)
multi_margin_loss(input,target,p,margin,weight,size_average,reduce,reduction)
multilabel_margin_loss(input,target,size_average,reduce,reduction)
multilabel_soft_margin_loss(input,target,weight,size_average,reduce,reduction)
native_channel_shuffle(input:T,groups:I) nll_loss(input,target,weight,size_average,ignore_index,reduce,reduction)
normalize(input,p,dim,eps,out) one_hot(tensor:T,num_classes:I) pad(input,pad,mode,value)
pairwise_distance(x1:T,x2:T,p:N,eps:N,keepdim:B) pdist(input:T,p:N) pixel_shuffle(input:T,upscale_factor:I)
pixel_unshuffle(input:T,downscale_factor:I)
poisson_nll_loss(input,target,log_input,full,size_average,eps,reduce,reduction) prelu(input:T,weight:T)
relu(input,inplace) relu6(input,inplace) relu_(input:T) reproducibility_notes
rms_norm(input,normalized_shape,weight,eps) rrelu(input,lower,upper,training,inplace)
rrelu_(input:T,lower:N,upper:N,training:B,generator:O)
scaled_dot_product_attention(query:T,key:T,value:T,attn_mask:T,dropout_p:N,is_causal:B,scale:N,enable_gqa:B)
scaled_grouped_mm(mat_a,mat_b,scale_a,scale_recipe_a,scale_b,scale_recipe_b,swizzle_a,swizzle_b,bias,offs,output_dtype,contraction_dim,use_fast_accum)
scaled_mm(mat_a,mat_b,scale_a,scale_recipe_a,scale_b,scale_recipe_b,swizzle_a,swizzle_b,bias,output_dtype,contraction_dim,use_fast_accum)
selu(input,inplace) selu_(input:T) sigmoid(input) silu(input,inplace)
smooth_l1_loss(input,target,size_average,reduce,reduction,beta)
soft_margin_loss(input,target,size_average,reduce,reduction) softmax(input,dim,dtype) softmin(input,dim,dtype)
softplus(input:T,beta:N,threshold:N) softshrink(input:T,lambd:N) softsign(input) sparse_support_notes tanh(input)
tanhshrink(input) tf32_notes threshold(input,threshold,value,inplace) threshold_(input:T,threshold:N,value:N) torch
triplet_margin_loss(anchor,positive,negative,margin,p,eps,swap,size_average,reduce,reduction)
triplet_margin_with_distance_loss(anchor,positive,negative,*,distance_function,margin,swap,reduction)
unfold(input,kernel_size,dilation,padding,stride) upsample(input,size,scale_factor,mode,align_corners)
upsample_bilinear(input,size,scale_factor) upsample_nearest(input,size,scale_factor)
""",
    "nn.init": """
Tensor calculate_gain(nonlinearity,param) constant() constant_(tensor,val) dirac() dirac_(tensor,groups) eye()
eye_(tensor) kaiming_normal() kaiming_normal_(tensor,a,mode,nonlinearity,generator) kaiming_uniform()
kaiming_uniform_(tensor,a,mode,nonlinearity,generator) normal() normal_(tensor,mean,std,generator) ones_(tensor)
orthogonal() orthogonal_(tensor,gain,generator) sparse() sparse_(tensor,sparsity,std,generator) torch
trunc_normal_(tensor,mean,std,a,b,generator) uniform() uniform_(tensor,a,b,generator) xavier_normal()
xavier_normal_(tensor,gain,generator) xavier_uniform() xavier_uniform_(tensor,gain,generator) zeros_(tensor)
""",
    "nn.utils": """
clip_grad clip_grad_norm(parameters,max_norm,norm_type,error_if_nonfinite,foreach)
clip_grad_norm_(parameters,max_norm,norm_type,error_if_nonfinite,foreach)
clip_grad_value_(parameters,clip_value,foreach) clip_grads_with_norm_(parameters,max_norm,total_norm,foreach)
convert_conv2d_weight_memory_format(module,memory_format) convert_conv3d_weight_memory_format(module,memory_format)
convert_parameters fuse_conv_bn_eval(conv,bn,transpose)
fuse_conv_bn_weights(conv_w,conv_b,bn_rm,bn_rv,bn_eps,bn_w,bn_b,transpose) fuse_linear_bn_eval(linear,bn)
fuse_linear_bn_weights(linear_w,linear_b,bn_rm,bn_rv,bn_eps,bn_w,bn_b) fusion
get_total_norm(tensors,norm_type,error_if_nonfinite,foreach) init memory_format parameters_to_vector(parameters)
parametrizations parametrize prune remove_spectral_norm(module,name) remove_weight_norm(module,name) rnn
skip_init(module_cls) spectral_norm(module,name,n_power_iterations,eps,dim) stateless
vector_to_parameters(vec,parameters) weight_norm(module,name,dim)
""",
    "nn.parameter": """
Buffer(data,*,persistent) Parameter(data,requires_grad) UninitializedBuffer(requires_grad,device,dtype,persistent)
UninitializedParameter(requires_grad,device,dtype) UninitializedTensorMixin() is_lazy(param) torch
""",
    "optim": """
ASGD(params,lr,lambd,alpha,t0,weight_decay,foreach,maximize,differentiable,capturable)
Adadelta(params,lr,rho,eps,weight_decay,foreach,*,capturable,maximize,differentiable)
Adafactor(params,lr,beta2_decay,eps,d,weight_decay,*,foreach,maximize)
Adagrad(params,lr,lr_decay,weight_decay,initial_accumulator_value,eps,foreach,*,maximize,differentiable,fused)
Adam(params,lr,betas,eps,weight_decay,amsgrad,*,foreach,maximize,capturable,differentiable,fused,decoupled_weight_decay)
AdamW(params,lr,betas,eps,weight_decay,amsgrad,*,maximize,foreach,capturable,differentiable,fused)
Adamax(params,lr,betas,eps,weight_decay,foreach,*,maximize,differentiable,capturable)
LBFGS(params,lr,max_iter,max_eval,tolerance_grad,tolerance_change,history_size,line_search_fn)
Muon(params,lr,weight_decay,momentum,nesterov,ns_coefficients,eps,ns_steps,adjust_lr_fn)
NAdam(params,lr,betas,eps,weight_decay,momentum_decay,decoupled_weight_decay,*,foreach,maximize,capturable,differentiable)
Optimizer(params,defaults)
RAdam(params,lr,betas,eps,weight_decay,decoupled_weight_decay,*,foreach,maximize,capturable,differentiable)
RMSprop(params,lr,alpha,eps,weight_decay,momentum,centered,capturable,foreach,maximize,differentiable)
Rprop(params,lr,etas,step_sizes,*,capturable,foreach,maximize,differentiable)
SGD(params,lr,momentum,dampening,weight_decay,nesterov,*,maximize,foreach,differentiable,fused)
SparseAdam(params,lr,betas,eps,maximize) adadelta adagrad adam adamax adamw asgd lbfgs lr_scheduler nadam optimizer
radam rmsprop rprop sgd sparse_adam swa_utils
swap_in_optimizer_params_and_state(optimizer,swapin_parameters,swapin_optim_state)
""",
    "optim.Optimizer": """
add_param_group(param_group) load_state_dict(state_dict) profile_hook_step(func)
register_load_state_dict_post_hook(hook,prepend) register_load_state_dict_pre_hook(hook,prepend)
register_state_dict_post_hook(hook,prepend) register_state_dict_pre_hook(hook,prepend) register_step_post_hook(hook)
register_step_pre_hook(hook) state_dict() step(closure) zero_grad(set_to_none)
""",
    "optim.lr_scheduler": """
ChainedScheduler(schedulers,optimizer) ConstantLR(optimizer,factor,total_iters,last_epoch)
CosineAnnealingLR(optimizer,T_max,eta_min,last_epoch)
CosineAnnealingWarmRestarts(optimizer,T_0,T_mult,eta_min,last_epoch)
CyclicLR(optimizer,base_lr,max_lr,step_size_up,step_size_down,mode,gamma,scale_fn,scale_mode,cycle_momentum,base_momentum,max_momentum,last_epoch)
EPOCH_DEPRECATION_WARNING ExponentialLR(optimizer,gamma,last_epoch) LRScheduler(optimizer,last_epoch)
LambdaLR(optimizer,lr_lambda,last_epoch) LinearLR(optimizer,start_factor,end_factor,total_iters,last_epoch)
MultiStepLR(optimizer,milestones,gamma,last_epoch) MultiplicativeLR(optimizer,lr_lambda,last_epoch)
OneCycleLR(optimizer,max_lr,total_steps,epochs,steps_per_epoch,pct_start,anneal_strategy,cycle_momentum,base_momentum,max_momentum,div_factor,final_div_factor,three_phase,last_epoch)
Optimizer(params,defaults) PolynomialLR(optimizer,total_iters,power,last_epoch)
ReduceLROnPlateau(optimizer,mode,factor,patience,threshold,threshold_mode,cooldown,min_lr,eps)
SequentialLR(optimizer,schedulers,milestones,last_epoch) StepLR(optimizer,step_size,gamma,last_epoch) TYPE_CHECKING
Tensor inf
""",
    "optim.lr_scheduler.LRScheduler": """
get_last_lr() get_lr() load_state_dict(state_dict) state_dict() step(epoch)
""",
    "utils": """
ThroughputBenchmark(module) backcompat backend_registration benchmark bundled_inputs checkpoint cmake_prefix_path
collect_env cpp_backtrace cpp_extension data debug_log deterministic dlpack file_baton flop_counter
generate_methods_for_privateuse1_backend(for_tensor,for_module,for_packed_sequence,for_storage,unsupported_dtype)
get_cpp_backtrace(frames_to_skip,maximum_number_of_frames) hipify hooks jit mkldnn mobile_optimizer model_dump
model_zoo module_tracker rename_privateuse1_backend(backend_name) serialization set_module(obj,mod) show_pickle
swap_tensors(t1,t2) tensorboard throughput_benchmark torch viz weak
""",
    "utils.data": """
BatchSampler(sampler,batch_size,drop_last) ChainDataset(datasets) ConcatDataset(datasets) DFIterDataPipe()
DataChunk(items)
DataLoader(dataset,batch_size,shuffle,sampler,batch_sampler,num_workers,collate_fn,pin_memory,drop_last,timeout,worker_init_fn,multiprocessing_context,generator,*,prefetch_factor,persistent_workers,pin_memory_device,in_order)
Dataset() DistributedSampler(dataset,num_replicas,rank,shuffle,seed,drop_last) IterDataPipe() IterableDataset()
MapDataPipe() RandomSampler(data_source,replacement,num_samples,generator) Sampler() SequentialSampler(data_source)
StackDataset() Subset(dataset,indices) SubsetRandomSampler(indices,generator) TensorDataset()
WeightedRandomSampler(weights,num_samples,replacement,generator) argument_validation(f) backward_compatibility
dataloader datapipes dataset default_collate(batch) default_convert(data) distributed
functional_datapipe(name,enable_df_api_tracing) get_worker_info() graph graph_settings
guaranteed_datapipes_determinism() non_deterministic(arg) random_split(dataset,lengths,generator)
runtime_validation(f) runtime_validation_disabled() sampler
""",
    "utils.data.DataLoader": """
check_worker_number_rationality() multiprocessing_context
""",
    "utils.data.Dataset": """
__add__
""",
    "utils.checkpoint": """
CheckpointError CheckpointFunction CheckpointPolicy(value,names,*,module,qualname,type,start,boundary)
DefaultDeviceType() GraphExecGroup() LoggingTensorMode() SAC_IGNORED_OPS SavedTensor
SelectiveCheckpointContext(*,is_recompute,op_output) TYPE_CHECKING TorchDispatchMode()
capture_logs(is_mode,python_tb,script_tb,cpp_tb) check_backward_validity(inputs)
checkpoint(function,*,use_reentrant,context_fn,determinism_check,debug,early_stop)
checkpoint_sequential(functions,segments,input,use_reentrant)
create_selective_checkpoint_contexts(policy_fn_or_list,allow_cache_entry_mutation) detach_variable(inputs)
fx_traceback get_device_states() noop_context_fn() set_checkpoint_debug_enabled(enabled)
set_checkpoint_early_stop(enable) set_device_states(devices,states,*,device_type) torch tree_map(func,tree,*,is_leaf)
""",
    "random": """
TYPE_CHECKING default_generator fork_rng(devices,enabled,device_type) get_rng_state() initial_seed() manual_seed(seed)
seed() set_rng_state(new_state) thread_safe_generator() torch
""",
}
